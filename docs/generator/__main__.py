from docs.generator import write

write()

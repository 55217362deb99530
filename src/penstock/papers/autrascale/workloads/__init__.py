"""The jobs of AuTraScale's evaluation: WordCount, the Yahoo benchmark, Nexmark."""

from __future__ import annotations

from penstock.papers.autrascale.workloads import nexmark, wordcount, yahoo

WORKLOADS = (*nexmark.WORKLOADS, *wordcount.WORKLOADS, *yahoo.WORKLOADS)

"""The manifests on the pages are what Kubernetes' API takes. Nobody has run them."""

from __future__ import annotations

from typing import Any

import kubernetes_validate
import pytest
import yaml

from pages import blocks, read

PAGE = "docs/how-to/run-on-kubernetes.md"
VERSIONS = ("1.28", "1.31", kubernetes_validate.latest_version())


def manifests() -> list[dict[str, Any]]:
    [text] = [block.text for block in blocks(read(PAGE)) if block.kind == "yaml"]
    return list(yaml.safe_load_all(text))


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("manifest", manifests(), ids=lambda manifest: str(manifest["kind"]))
def test_the_schema_of_the_api_has_every_field(manifest: dict[str, Any], version: str) -> None:
    kubernetes_validate.validate(manifest, version, strict=True)


def test_a_misspelt_field_would_be_found() -> None:
    deployment = next(manifest for manifest in manifests() if manifest["kind"] == "Deployment")
    deployment["spec"]["replica"] = 1
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(deployment, VERSIONS[0], strict=True)


def test_what_the_manifests_call_each_other_agrees() -> None:
    found = {manifest["kind"]: manifest for manifest in manifests()}
    pod = found["Deployment"]["spec"]["template"]
    assert pod["metadata"]["labels"] == found["Service"]["spec"]["selector"]
    assert pod["spec"]["serviceAccountName"] == found["ServiceAccount"]["metadata"]["name"]
    assert found["RoleBinding"]["roleRef"]["name"] == found["Role"]["metadata"]["name"]
    assert len({manifest["metadata"]["namespace"] for manifest in manifests()}) == 1

# SPDX-License-Identifier: Apache-2.0
"""The notebooks of examples/: they run, and print what is stored in them."""

import importlib.util
import json
from pathlib import Path

import pytest
import stepscope

ROOT = Path(__file__).resolve().parents[2]
NAMES = ["1-first-verdict", "2-memory", "3-eight-ranks", "4-pandas", "5-ci-check"]
STORED_MAX = 100_000  # bytes: they render on web pages, and live in the history

nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("notebooks", ROOT / "tools/notebooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.environment(Path(stepscope.__file__).parents[3])
    return module


@pytest.mark.parametrize("name", NAMES)
def test_outputs_are_as_stored(tool, name):
    if name == "1-first-verdict" and stepscope._core.viewer() is None:
        pytest.skip("this build has no viewer to show")
    if name in ("2-memory", "4-pandas"):
        pytest.importorskip("pandas")
    assert not tool.check(tool.NOTEBOOKS / f"{name}.ipynb")


def test_stored_notebooks_are_small_and_neutral(tool):
    paths = sorted(tool.NOTEBOOKS.glob("*.ipynb"))
    assert [path.stem for path in paths] == NAMES
    for path in paths:
        text = path.read_text()
        assert len(text) < STORED_MAX, path
        assert "<iframe" not in text and " s\\nRun" not in text
        cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
        assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
        assert not any(out["output_type"] == "error" for cell in cells for out in cell["outputs"])


def test_the_check_fails_when_a_bound_is_crossed(tool, tmp_path):
    stepscope.demo(tmp_path / "slow", "gpu1-sync-print").close()
    with pytest.raises(nbclient.exceptions.CellExecutionError) as caught:
        tool.run(tool.NOTEBOOKS / "5-ci-check.ipynb", {"TRACES": str(tmp_path / "slow")})
    assert "RuntimeError" in str(caught.value)
    assert "host syncs per step: 12.0, at most 2" in str(caught.value)
    assert "Host syncs: the host waits for the GPU" in str(caught.value)

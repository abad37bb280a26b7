from wr1_utils.settings import load_settings
from wr1_utils.stepper import Stepper
from wr1_utils.tasks.miniwob import make_tasks


def test_an_episode_played_by_hand_in_a_real_browser():
    task = make_tasks("train", 1, ("click-button",))[0]
    with Stepper(load_settings("smoke"), task) as episode:
        observation = episode.reset()
        wanted = episode.intent.split('"')[1]
        button = next(e for e in observation.elements if e.role == "button" and e.label == wanted)
        assert episode.screenshot().startswith(b"\x89PNG")
        result = episode.step(f'<think># Element: {wanted} [{button.id}]</think>\n<answer>do(action="Click", element="{button.id}")</answer>')
        assert result.done and episode.score() == 1.0
    episode.close()

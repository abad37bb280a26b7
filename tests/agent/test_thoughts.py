"""The styles of the experts: thoughts checked by hand for each kind of action, and the same actions in every style in a real browser."""

import re

import pytest

from wr1_utils.agent import experts
from wr1_utils.agent.hf_engine import load_tokenizer
from wr1_utils.agent.thoughts import STYLES, in_style, names_in, paragraph, read_step
from wr1_utils.rollout import Rollout
from wr1_utils.settings import load_settings, project_path, reply_limit, reply_style, with_style
from wr1_utils.tasks import benchmark_expert
from wr1_utils.tasks.miniwob import make_tasks
from wr1_utils.tasks.task import Task, load_tasks
from wr1_utils.web.actions import parse_reply
from wr1_utils.web.observation import make_view

INTERACTIVE = ("link", "button", "textbox", "checkbox", "radio", "select", "tab")
NAVIGATION = [("link", "Home"), ("textbox", "Search", ""), ("link", "Orders"), ("link", "Cart")]


def page(title, *parts, tabs=(), notices=(), page_tokens=700):
    """An observation: (role, label, value, options, state) each, a list of them for a table row; the site's navigation and heading come first."""
    elements = [*NAVIGATION, *[part for part in parts if part[0] == "flash"], ("heading", title), *[part for part in parts if part[0] != "flash"]]
    raw = []
    for row, part in enumerate(elements):
        for role, label, *rest in part if isinstance(part, list) else [part]:
            value, options, state = [*rest, *[None, (), ()][len(rest):]]
            raw.append({"role": "text" if role == "flash" else role, "label": label, "value": value, "options": options, "state": state,
                        "row": row if isinstance(part, list) else None, "box": (0, 0, 9, 9), "in_view": True,
                        "interactive": role in INTERACTIVE})  # fmt: skip
    return make_view({"url": "http://shop/", "title": f"Shop: {title}", "anchor": 0, "elements": raw}, style="compact", page_tokens=page_tokens,
                     tabs=tabs, notices=notices).observation  # fmt: skip


HOME = page("Home", ("link", "Toys"), ("link", "Bags"), ("link", "Office"))
RESULTS = page("Results for Red Mug", [("text", "Product"), ("text", "Price")], [("link", "Red Mug"), ("text", "$5.00")])
MUG = page("Red Mug", [("text", "Price"), ("text", "$5.00")], [("text", "Stock"), ("text", "8")], ("select", "Color", "Choose", ("Choose", "Blue")),
           ("textbox", "Quantity", "1"), ("button", "Add to cart"))  # fmt: skip
TYPED = page("Red Mug", ("textbox", "Quantity", "3"), ("button", "Add to cart"))
CART = page("Cart", ("flash", "Added Red Mug."), [("text", "Item"), ("text", "Price")], [("link", "Red Mug"), ("text", "$5.00")])
ORDERS = page("Orders", [("link", "Order 7"), ("text", "Ann")], [("link", "Order 6"), ("text", "Ben")], ("link", "Next page"))
ACCOUNT = page("Account", ("checkbox", "Newsletter", None, (), ()), ("button", "Save"))
TICKED = page("Account", ("checkbox", "Newsletter", None, (), ("checked",)), ("button", "Save"))
ORDER = page("Order 7", [("text", "Status"), ("text", "Packed")], [("text", "Customer"), ("link", "Ann")])
SORTED = page("Office", ("select", "Sort by", "Price high to low", ("Name", "Price high to low")))
EMPTY = page("Results for Cup", ("text", "No products found."))


def button(observation, label):
    return experts.need(observation, "button", label)


def link(observation, label):
    return experts.need(observation, "link", label)


SEARCHED = (HOME, experts.search(experts.need(HOME, "textbox", "Search"), "Red Mug"))
OPENED = (RESULTS, experts.click(link(RESULTS, "Red Mug")))
ADD_THREE = ("Add 3 Red Mug to the cart.", {"product": "Red Mug", "quantity": 3})
PRICE = ("What does Red Mug cost?", {"product": "Red Mug"})
ROW = experts.page_line(ORDERS, "Order 7")

CASES = {
    "search": (*ADD_THREE, [], SEARCHED,
               "I am on Shop: Home, with the links Toys, Bags and more. Nothing is done yet; still open: 3 and Red Mug. "
               "This page does not show Red Mug, so I look for it with the field Search, as the task says."),
    "click what is named": (*PRICE, [SEARCHED], OPENED,
                            "I am on Shop: Results for Red Mug, with the rows Product and Red Mug. Before this I searched for Red Mug; the answer is still "
                            "to be found, and open: Red Mug. The link Red Mug, in the row with $5.00, is what the task names, so I click it."),
    "type": (*ADD_THREE, [SEARCHED, OPENED], (MUG, experts.type_text(experts.need(MUG, "textbox", "Quantity"), "3")),
             "I am on Shop: Red Mug, with the fields Color and Quantity. Before this I searched for Red Mug and then clicked Red Mug; still open: 3. "
             "The field Quantity holds 1, and it should be 3, as the task says, so I type that."),
    "select": ("Add Red Mug in Blue to the cart.", {"product": "Red Mug", "choice": "Blue"}, [OPENED],
               (MUG, experts.select(experts.need(MUG, "select", "Color"), "Blue")),
               "I am on Shop: Red Mug, with the fields Color and Quantity. Before this I clicked Red Mug; still open: Blue. "
               "The list Color holds Choose, and it should be Blue, as the task says, so I select that."),
    "send a form": (*ADD_THREE, [OPENED, (MUG, experts.type_text(experts.need(MUG, "textbox", "Quantity"), "3"))],
                    (TYPED, experts.click(button(TYPED, "Add to cart"))),
                    "I am on Shop: Red Mug, with the field Quantity. Before this I clicked Red Mug and then typed 3 into Quantity; all that the task names is "
                    "taken up, its last steps remain. Quantity is 3, as it should be, and the button Add to cart completes it, so I click it."),
    "tick": ("Subscribe to the newsletter.", {}, [], (ACCOUNT, experts.click(experts.need(ACCOUNT, "checkbox", "Newsletter"))),
             "I am on Shop: Account, with the field Newsletter. Nothing is done yet; still open: Newsletter. "
             "The box Newsletter is not checked yet, and the task names it, so I click it."),
    "save a tick": ("Subscribe to the newsletter.", {}, [(ACCOUNT, experts.click(experts.need(ACCOUNT, "checkbox", "Newsletter")))],
                    (TICKED, experts.click(button(TICKED, "Save"))),
                    "I am on Shop: Account, with the field Newsletter. Before this I clicked Newsletter; all that the task names is taken up, its last "
                    "steps remain. Newsletter is checked, as it should be, and the button Save completes it, so I click it."),
    "a fact that leads on": ("Open the page of the customer of order 7.", {"order": 7}, [(ORDERS, experts.click(link(ORDERS, "Order 7")))],
                             (ORDER, experts.click(link(ORDER, "Ann"))),
                             "I am on Shop: Order 7, with the rows Status and Customer. Before this I clicked Order 7; all that the task names is taken up, "
                             "its last steps remain. The link Ann stands in the row of Customer, of which the task speaks, so I click it."),
    "lead on": ("Show order 5.", {"order": 5}, [(HOME, experts.click(link(HOME, "Orders")))], (ORDERS, experts.click(link(ORDERS, "Next page"))),
                "I am on Shop: Orders, with the rows Order 7 and Order 6. Before this I clicked Orders; still open: 5. "
                "5 is not shown here, and the link Next page should lead on to it, so I click it."),
    "the row of what is named": ("Cancel the order of Ben.", {"customer": "Ben"}, [], (ORDERS, experts.click(link(ORDERS, "Order 6"))),
                                 "I am on Shop: Orders, with the rows Order 7 and Order 6. Nothing is done yet; still open: Ben. "
                                 "The link Order 6 stands in the row of Ben, which the task names, so I click it."),
    "a place in a list": ("Cancel my last purchase.", {}, [], (ORDERS, experts.click(link(ORDERS, "Order 7"))),
                          "I am on Shop: Orders, with the rows Order 7 and Order 6. Nothing is done yet; the task is not done yet. "
                          "The link Order 7 is in row 1 of its list, so I click it."),
    "note": ("Which costs more, order 7 or order 6?", {"first": 7, "second": 6}, [], (ORDERS, experts.click(link(ORDERS, "Order 6"), ROW)),
             "I am on Shop: Orders, with the rows Order 7 and Order 6. Nothing is done yet; the answer is still to be found, and open: 7 and 6. "
             "I will need Order 7 later, so I note it. The link Order 6, in the row with Ben, is what the task names, so I click it."),
    "from a note": ("Write the price of Red Mug into Quantity.", {"product": "Red Mug"}, [(RESULTS, experts.click(link(RESULTS, "Red Mug"), "row Price | $4.00"))],
                    (MUG, experts.type_text(experts.need(MUG, "textbox", "Quantity"), "$4.00")),
                    "I am on Shop: Red Mug, with the fields Color and Quantity. Before this I clicked Red Mug; all that the task names is taken up, its last "
                    "steps remain. The field Quantity holds 1, and it should be $4.00, as my note says, so I type that."),
    "another tab": ("Comment on order 7.", {"order": 7}, [], (page("Invoice", tabs=("Shop: Order 7", "Shop: Invoice"), notices=("new tab 1 opened",)),
                                                            experts.reply('do(action="Switch Tab", argument="0")')),
                    "I am on Shop: Invoice. The browser tells: new tab 1 opened. Nothing is done yet; still open: 7. "
                    "The next step is on tab 0, Shop: Order 7, so I go there."),
    "scroll": ("Show order 5.", {"order": 5}, [], (ORDERS, experts.scroll_down()),
               "I am on Shop: Orders, with the rows Order 7 and Order 6. Nothing is done yet; still open: 5. "
               "5 is not shown here, and the page goes on, so I scroll down."),
    "hover": ("Hover over Toys.", {}, [], (HOME, experts.reply('do(action="Hover", element="4")')),
              "I am on Shop: Home, with the links Toys, Bags and more. Nothing is done yet; still open: Toys. "
              "The link Toys is what the task names and may show more, so I point at it."),
    "right click": ("Open the menu of Bags.", {}, [], (HOME, experts.reply('do(action="Right Click", element="5")')),
                    "I am on Shop: Home, with the links Toys, Bags and more. Nothing is done yet; still open: Bags. "
                    "The link Bags is what the task names and may show more, so I right-click it."),
    "press enter": ("Look for Cup.", {"words": "Cup"}, [], (HOME, experts.reply('do(action="Press Enter")')),
                    "I am on Shop: Home, with the links Toys, Bags and more. Nothing is done yet; still open: Cup. "
                    "What is to be entered stands in its place, so I press Enter."),
    "wait": ("Look for Cup.", {"words": "Cup"}, [], (HOME, experts.reply('do(action="Wait")')),
             "I am on Shop: Home, with the links Toys, Bags and more. Nothing is done yet; still open: Cup. The page may still change, so I wait."),
    "back": ("Show Red Mug, then its list.", {"product": "Red Mug"}, [OPENED], (MUG, experts.reply("go_backward()")),
             "I am on Shop: Red Mug, with the rows Price and Stock. Before this I clicked Red Mug; all that the task names is taken up, its last steps "
             "remain. The way on starts from the page before this one, so I go there."),
    "answer": (*PRICE, [SEARCHED, OPENED], (MUG, experts.exit_with("$5.00", experts.page_line(MUG, "row Price"))),
               "I am on Shop: Red Mug, with the rows Price and Stock. Before this I searched for Red Mug and then clicked Red Mug. "
               "This page says Price | $5.00, so the answer is $5.00."),
    "answer by place": ("Who ordered last?", {}, [], (ORDERS, experts.exit_with("Ann", ROW)),
                        "I am on Shop: Orders, with the rows Order 7 and Order 6. Nothing is done yet. "
                        "This page says in row 1 of its list Order 7 | Ann, so the answer is Ann."),
    "answer from notes": ("Which is first, 7 or 6?", {"first": 7, "second": 6}, [(ORDERS, experts.click(link(ORDERS, "Order 6"), ROW))],
                          (MUG, experts.exit_with("7", ROW)),
                          "I am on Shop: Red Mug, with the rows Price and Stock. Before this I clicked Order 6. "
                          "My note on Order 7 gives the answer, so I end with 7."),
    "not to be had": ("What does Cup cost?", {"product": "Cup"}, [], (EMPTY, experts.exit_with("N/A", "text No products found.")),
                      "I am on Shop: Results for Cup. Nothing is done yet. "
                      "The page says No products found, so what the task asks for cannot be had and I end with N/A."),
    "told to be done": (*ADD_THREE, [(TYPED, experts.click(button(TYPED, "Add to cart")))], (CART, experts.exit_with("done", "done")),
                        "I am on Shop: Cart, which says Added Red Mug, with the rows Item and Red Mug. Before this I clicked Add to cart. "
                        "The page says Added Red Mug; nothing is left to do, so I end."),
    "seen to be done": ("Show Office sorted by Price high to low.", {"category": "Office", "sort": "Price high to low"}, [],
                        (SORTED, experts.exit_with("done", "done")),
                        "I am on Shop: Office, with the field Sort by. Nothing is done yet. "
                        "Sort by is Price high to low and Office is open; nothing is left to do, so I end."),
}  # fmt: skip


def thoughts(intent, filling, turns):
    """The replies of an expert in the style `cot` that answers the pages of (page, short reply) pairs one after the other."""
    given = iter(turns)
    expert, memory = in_style(lambda task, intent, observation, memory: next(given)[1], "cot"), {}
    task = Task("t", ("shopping",), "", intent, "", "t", filling, False, False, {}, "train")
    return [expert(task, intent, observation, memory) for observation, _ in turns]


@pytest.mark.parametrize("name", CASES)
def test_a_thought_says_what_is_seen_what_remains_and_why(name):
    intent, filling, before, now, expected = CASES[name]
    *_, last = thoughts(intent, filling, [*before, now])
    assert last == now[1].replace("<think>", f"<think>{expected}\n")


def test_a_thought_tells_the_state_of_a_box_and_what_is_not_wanted():
    seen = page("Account", ("checkbox", "Newsletter", None, (), ("checked",)))
    step = read_step(experts.click(experts.need(seen, "checkbox")), "Change the phone.", {}, seen)
    assert "The box Newsletter is checked, and the task does not name it" in paragraph(step)


def test_rows_are_not_numbered_where_some_above_may_be_cut_off():
    cut = page("Orders", *[[("link", f"Order {n}"), ("text", "Ann")] for n in range(30)], page_tokens=200)
    assert "scroll down for more" in cut.text
    below = type(cut)(**{**vars(cut), "text": "scroll up for more\n" + cut.text})
    row = experts.page_line(cut, "Order 3 ")
    assert "in row 4 of its list" in paragraph(read_step(experts.exit_with("Ann", row), "Who was it?", {}, cut))
    assert "in row" not in paragraph(read_step(experts.exit_with("Ann", row), "Who was it?", {}, below))


def test_what_a_task_names():
    """Values that stand in the intent, in its order, none inside another; else quotes; else labels of the page."""
    filling = {"quantity": 3, "product": "Red Mug", "mug": "Mug", "hidden": "not said", "empty": ""}
    assert names_in("Add 3 Red Mug to the cart.", filling, HOME) == ("3", "Red Mug")
    assert names_in('Enter "Ann" and press "Go".', {}, HOME) == ("Ann", "Go")
    assert names_in("Open office, then toys.", {}, HOME) == ("Office", "Toys")
    assert names_in("Go 30 times.", {"n": 3}, HOME) == ()


def test_the_styles_say_the_same_action():
    def short(task, intent, observation, memory):
        return experts.click(link(observation, "Red Mug"), "row Total | $9")

    task = Task("t", ("shopping",), "", *ADD_THREE[:1], "", "t", ADD_THREE[1], False, False, {}, "train")
    replies = {style: in_style(short, style)(task, task.intent, RESULTS, {}) for style in STYLES}
    assert in_style(short, "short") is short
    assert replies["bare"] == 'do(action="Click", element="4")'
    assert replies["cot"].endswith(replies["short"].removeprefix("<think>")) and "# Note: row Total | $9\n# Element: Red Mug [4]" in replies["cot"]
    assert len({parse_reply(reply, reply_style(style)) for style, reply in replies.items()}) == 1
    with pytest.raises(ValueError, match="one of short, cot, bare"):
        in_style(short, "long")


def test_another_episode_looks_back_on_nothing():
    first, again = (thoughts(*PRICE, [SEARCHED, OPENED]) for _ in range(2))
    assert first == again and "Nothing is done yet" in first[0] and "Nothing is done yet" not in first[1]


# ---- in a real browser -----------------------------------------------------------------------------------------------------------

TEMPLATES = ("cart_add_quantity", "order_compare", "admin_customer_phone", "admin_comment_subtotal", "gitlab_label_issue", "gitlab_stars", "map_note_fact",
             "wiki_number", "reddit_comment", "reddit_top_author_city", "multi_comment_price", "multi_favorite")  # fmt: skip
PAGES = ("click-checkboxes", "login-user", "read-table", "search-engine", "choose-list", "click-tab-2")
WORDS = set(  # all that a thought says of its own; everything else stands in the task, the page or earlier replies
    """a after all am an and answer answers as asks at back be before beside box browser button buttons can cannot change checked choice click clicked completes
    count do does done down element elements empty end ended enter entered expanded field fields find for forward found from gives go goes had has have here holds i in
    into is it its item last later lead left link links list look may menu more my name named names need next not note notes nothing number of on one open page
    place point pointed press pressed remain right row rows s says scroll scrolled searched select selected should show shown so speaks stands starts step steps
    still tab take taken takes task tells that the then there thing this to type typed up wait waited way went what where which will with without yet""".split()
)


@pytest.fixture(scope="module")
def played():
    """The same tasks by the experts in each style: style → trajectories."""
    arena, chosen = load_tasks(project_path("data/tasks/arena_train.json")) + load_tasks(project_path("data/tasks/arena_test.json")), []
    chosen = [next(task for task in arena if task.intent_template_id == template) for template in TEMPLATES] + make_tasks("train", 1, PAGES)
    return _play(chosen)


def _play(tasks):
    trajectories = {}
    for style in STYLES:
        settings = with_style(load_settings("laptop", **{"tasks.benchmarks": ("pocket", "arena", "miniwob"), "rollout.episodes": 8}), style)
        with Rollout(settings) as rollout:
            trajectories[style] = rollout.demonstrate(tasks, load_tokenizer(project_path(settings.model.path)))
    return trajectories


def check_style_of(trajectories):
    """Solved in every style by the same actions; thoughts that say nothing that is not there, and that fit."""
    limit = reply_limit(with_style(load_settings("laptop"), "cot"))
    assert not [(style, t.task_id, t.status, t.error) for style, played in trajectories.items() for t in played if t.status != "success"]
    for short, cot, bare in zip(*(trajectories[style] for style in STYLES)):
        assert [turn.action for turn in short.turns] == [turn.action for turn in cot.turns] == [turn.action for turn in bare.turns]
        assert all(parse_reply(turn.reply, "bare") == parse_reply(other.reply) for turn, other in zip(bare.turns, short.turns))
        known = _words(cot.intent)
        for turn, other in zip(cot.turns, short.turns):
            thought, _, rest = turn.reply.removeprefix("<think>").partition("\n")
            assert rest == other.reply.removeprefix("<think>")
            assert 20 <= len(thought.split()) <= 100, thought
            assert len(turn.reply_ids) <= limit, turn.reply
            known |= _words(f"{turn.title} {turn.observation} {turn.action}")
            assert _words(thought) <= WORDS | known, (_words(thought) - WORDS - known, thought)
    everything = [turn.reply.partition("\n")[0] for t in trajectories["cot"] for turn in t.turns]
    assert len(set(everything)) > 0.9 * len(everything)  # not one frozen sentence


def _words(text):
    return set(re.findall(r"\w+", text.lower()))


def test_experts_solve_tasks_of_every_site_in_every_style(played):
    check_style_of(played)


def test_notes_of_a_thought_outlive_their_page(played):
    """The page of a note is gone from the next context, the note and its paragraph are there."""
    tokenizer = load_tokenizer(project_path("data/models/pocket-base"))
    compare = next(t for t in played["cot"] if t.template == "order_compare")
    at = next(i for i, turn in enumerate(compare.turns) if "# Note: row Total" in turn.reply)
    context = tokenizer.decode(compare.turns[at + 1].context_ids)
    assert compare.turns[at].reply in context and compare.turns[at].observation not in context


@pytest.mark.slow
def test_experts_of_every_template_think_truly():
    arena = load_tasks(project_path("data/tasks/arena_train.json")) + load_tasks(project_path("data/tasks/arena_test.json"))
    one = {task.intent_template_id: task for task in reversed(arena)}
    check_style_of(_play([*one.values(), *make_tasks("train", 1)]))


def test_the_expert_of_a_benchmark_takes_a_style():
    assert benchmark_expert("arena", "short") is benchmark_expert("arena")
    (task,) = make_tasks("train", 1, ("click-test-2",))
    seen = page("Test", ("button", "ONE"), ("button", "TWO"))
    reply = benchmark_expert("miniwob", "cot")(task, "Click button ONE.", seen, {})
    assert "The button ONE is what the task names, so I click it.\n# Element: ONE [4]</think>" in reply

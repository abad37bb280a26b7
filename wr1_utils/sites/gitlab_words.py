"""The invented content that the seed of the site `gitlab` is made of: projects, groups, labels, milestones and phrases."""

GROUPS = {                       # path → name, description, visibility, members
    "northford-transit": ("Northford Transit", "Software for the buses and trams of Northford.", "Public",
                          {"vera": "Owner", "silas": "Maintainer", "emma": "Developer", "jonas": "Reporter"}),
    "mill-road-lab": ("Mill Road Lab", "Small tools made at the lab on Mill Road.", "Public",
                      {"emma": "Owner", "tessa": "Maintainer", "uma": "Developer"}),
    "lakeview-school": ("Lakeview School", "Course material of the school in Lakeview.", "Private", {"otis": "Owner", "emma": "Guest"}),
}
PROJECTS = {                     # space/path → name, visibility, description, members beside the group's, what it is about
    "emma/garden-planner": (
        "Garden Planner", "Public", "Plans beds and seeds for a small garden.",
        {"emma": "Owner", "otis": "Maintainer", "petra": "Developer", "rosa": "Developer", "hugo": "Reporter", "ines": "Guest"},
        ("frost warning", "seed list", "bed map", "watering plan", "harvest log", "moon calendar", "soil table", "plant photo")),
    "emma/recipe-box": (
        "Recipe Box", "Public", "Keeps recipes and makes shopping lists of them.",
        {"emma": "Owner", "quinn": "Developer", "yara": "Developer", "lars": "Reporter", "mona": "Guest"},
        ("shopping list", "portion slider", "oven timer", "spice rack", "recipe card", "allergy filter", "print view", "unit switch")),
    "emma/desk-notes": (
        "Desk Notes", "Private", "Notes in plain text, with tags.",
        {"emma": "Owner", "nora": "Developer", "wade": "Reporter", "kira": "Developer"},
        ("tag cloud", "pin board", "night theme", "word count", "note search", "page link", "draft folder", "undo stack")),
    "emma/kite-simulator": (
        "Kite Simulator", "Internal", "Flies a kite on the screen.",
        {"emma": "Owner", "zane": "Maintainer", "alma": "Developer", "boris": "Developer", "xenia": "Guest"},
        ("wind model", "line tension", "camera view", "crash sound", "score board", "replay mode", "sky texture", "tail physics")),
    "northford-transit/bus-timetable": (
        "Bus Timetable", "Public", "Shows when the next bus leaves.",
        {"emma": "Maintainer", "clara": "Developer", "dexter": "Developer"},
        ("holiday plan", "stop search", "delay notice", "night line", "fare zone", "paper export", "platform sign", "return trip")),
    "northford-transit/ticket-printer": (
        "Ticket Printer", "Internal", "Drives the printers at the stops.",
        {"edith": "Developer", "felix": "Developer", "greta": "Guest"},
        ("paper sensor", "receipt font", "queue limit", "barcode size", "cutter test", "ink level", "refund slip", "coin counter")),
    "northford-transit/route-finder": (
        "Route Finder", "Public", "Finds the shortest way between two stops.",
        {"nils": "Developer", "clara": "Developer", "olga": "Reporter"},
        ("walking speed", "transfer time", "detour rule", "map tile", "stop radius", "cost model", "road closure", "ferry link")),
    "mill-road-lab/lantern-web": (
        "Lantern Web", "Public", "A small server for small web pages.",
        {"pablo": "Developer", "nora": "Developer", "ruth": "Reporter", "wade": "Guest"},
        ("login form", "side menu", "image upload", "mail digest", "cookie notice", "color theme", "contact page", "access log")),
    "mill-road-lab/lantern-docs": (
        "Lantern Docs", "Public", "The handbook of Lantern Web.",
        {"ruth": "Developer", "lars": "Developer", "hugo": "Guest"},
        ("install guide", "glossary page", "code sample", "release note", "style guide", "search index", "table layout", "upgrade path")),
    "mill-road-lab/cedar-parser": (
        "Cedar Parser", "Private", "Reads settings files of many kinds.",
        {"kira": "Developer", "boris": "Developer"},
        ("string escape", "number format", "error position", "comment rule", "token cache", "unicode test", "nested list",
         "line counter")),
    "otis/puzzle-solver": (
        "Puzzle Solver", "Public", "Solves jigsaws and grids, and shows how.",
        {"otis": "Owner", "silas": "Developer", "mona": "Developer", "yara": "Reporter"},
        ("hint button", "backtrack step", "grid reader", "solver speed", "difficulty rank", "piece rotation", "result page", "sample set")),
    "petra/weather-board": (
        "Weather Board", "Public", "The weather of Elmton on an old tablet.",
        {"petra": "Owner", "greta": "Developer", "jonas": "Developer", "alma": "Guest"},
        ("rain gauge", "wind arrow", "sunrise time", "storm alert", "sensor battery", "week view", "units menu", "radio link")),
    "quinn/music-shelf": (
        "Music Shelf", "Public", "Sorts and plays the music on a disk.",
        {"quinn": "Owner", "ines": "Maintainer", "felix": "Developer"},
        ("album cover", "play queue", "artist page", "volume knob", "lyrics pane", "shuffle order", "file import", "rating star")),
    "rosa/chess-clock": (
        "Chess Clock", "Public", "A clock for two players.",
        {"rosa": "Owner", "dexter": "Developer", "uma": "Developer", "edith": "Reporter"},
        ("pause button", "bonus second", "flag sound", "move counter", "screen lock", "time preset", "player name", "game record")),
}
LABELS = {                       # name → color, description
    "bug": ("Red", "Something does not work"), "feature": ("Green", "Something new"), "docs": ("Blue", "About the documentation"),
    "tests": ("Gray", "About the tests"), "urgent": ("Orange", "To be done soon"), "design": ("Purple", "How it looks"),
}
ISSUES = (                       # title, label, description
    ("{Thing} is too slow", "bug", "It takes {number} seconds on my machine."),
    ("{Thing} does not load", "bug", "The page stays empty since version 0.{number}."),
    ("{Thing} shows the wrong value", "bug", "It shows {number} where nothing should be."),
    ("{Thing} forgets its settings", "bug", "After {number} minutes everything is as before."),
    ("{Thing} is cut off on small screens", "design", "Seen on a screen of {number} inches."),
    ("New colors for the {thing}", "design", "The sketch has {number} colors."),
    ("Make the {thing} optional", "feature", "{number} people asked for it."),
    ("Let readers share the {thing}", "feature", "A link that lasts {number} days would do."),
    ("Explain the {thing} in the guide", "docs", "Page {number} is the right place."),
    ("Example for the {thing} is outdated", "docs", "The example is {number} months old."),
    ("Test the {thing} with large files", "tests", "A file of {number} megabytes is enough."),
    ("Check of the {thing} fails at night", "tests", "It failed {number} times this week."),
)
COMMENTS = ("I can confirm this.", "Who has time for it?", "A patch is on its way.", "Please add a screenshot.",
            "Not before the next release.", "Works for me.", "This is a duplicate, I think.", "Let us talk on Monday.", "Good idea.",
            "Still open on my side.", "Fixed in a branch of mine.", "Could you test it again?")
REVIEWS = ("Looks good.", "Please add a test.", "Can this be simpler?", "The name is not clear.", "Ready from my side.",
           "One line is too long.")
WORK = (                         # title of a commit, its file, the line that it adds
    ("Add {thing}", "settings.ini", "{key} = {number}"),
    ("Set {thing} to {number}", "settings.ini", "{key} = {number}"),
    ("Document {thing}", "docs/guide.md", "{Thing}: see setting {key}."),
    ("Test {thing}", "tests/checks.txt", "{thing} gives {number}"),
    ("Log {thing}", "src/main.py", 'log("{thing}", {number})'),
    ("Speed up {thing}", "src/main.py", 'cache("{key}", {number})'),
)
MILESTONES = (("Spring release", "2026-04-30", "active"), ("Summer release", "2026-07-31", "active"),
              ("Winter release", "2025-12-20", "closed"))
BIOS = ("Likes short functions.", "Walks to work.", "Writes tests first.", "Grows tomatoes.", "Plays chess on Sundays.", "Reads old maps.")
JOBS = ("Tester", "Designer", "Technical writer", "Release manager", "Data analyst", "Team lead", "Translator", "Site engineer", "Intern",
        "Product owner", "Security officer")
STATUSES = ("", "", "", "On holiday", "Busy until Friday", "Happy to review")

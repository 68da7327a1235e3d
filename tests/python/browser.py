"""Pages in headless Chromium; CMake registers tests named test_*_page.py where there is one."""
import os
import shutil
import subprocess

BROWSER = next(path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))
               if path)


def open_page(path, *options, address="", size="1500,950"):
    """The page's elements once its script ran; anything said on the console is an error."""
    # A sanitizer that is loaded first is for our libraries, not for the browser.
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    done = subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
         "--window-size=" + size, "--virtual-time-budget=4000", "--enable-logging=stderr",
         "--user-data-dir=%s" % (path.parent / "browser"), *options,
         path.as_uri() + address], capture_output=True, text=True, timeout=170, check=True, env=environment)
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line or "Uncaught" in line]
    assert said == []
    return done.stdout


def screenshot(path, name, address="", size="1500,950"):
    """Written to the folder SYMBIND_SCREENSHOTS, for visual inspection."""
    folder = os.environ.get("SYMBIND_SCREENSHOTS", str(path.parent))
    picture = os.path.join(folder, name + ".png")
    open_page(path, "--screenshot=" + picture, address=address, size=size)
    assert os.path.getsize(picture) > 20000
    with open(picture, "rb") as file:
        assert file.read(8) == b"\x89PNG\r\n\x1a\n"

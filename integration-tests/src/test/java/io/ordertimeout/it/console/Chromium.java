package io.ordertimeout.it.console;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Playwright;
import io.ordertimeout.it.support.Programs;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** The machine's own Chromium, headless. Must only be used by the thread that started it. */
final class Chromium implements AutoCloseable {

  /** Disables the browser's own network traffic, such as updates. */
  private static final List<String> ARGUMENTS =
      List.of(
          "--no-sandbox",
          "--disable-gpu",
          "--disable-quic",
          "--no-first-run",
          "--disable-background-networking",
          "--disable-component-update",
          "--disable-sync");

  private final Playwright playwright;
  private final Browser browser;

  private Chromium(Playwright playwright, Browser browser) {
    this.playwright = playwright;
    this.browser = browser;
  }

  static Chromium start() {
    Path program = Programs.path("chromium", "chromium");
    Playwright playwright =
        Playwright.create(
            new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
    try {
      return new Chromium(
          playwright,
          playwright
              .chromium()
              .launch(
                  new BrowserType.LaunchOptions().setExecutablePath(program).setArgs(ARGUMENTS)));
    } catch (RuntimeException e) {
      playwright.close();
      throw e;
    }
  }

  /** Opens a browser context for the console of a service. */
  Visit visit(URI service, Look look) {
    return new Visit(browser.newContext(look.options()), service);
  }

  @Override
  public void close() {
    browser.close();
    playwright.close();
  }
}

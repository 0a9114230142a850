package io.ordertimeout.it.console;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.options.ColorScheme;
import java.util.Locale;

/**
 * Window size and colour scheme of the browser: each size and each scheme once, because the style
 * sheet has no rule for a pair of them.
 */
enum Look {
  DESKTOP_LIGHT(1280, 800, ColorScheme.LIGHT),
  PHONE_DARK(360, 740, ColorScheme.DARK);

  private final int width;
  private final int height;
  private final ColorScheme colours;

  Look(int width, int height, ColorScheme colours) {
    this.width = width;
    this.height = height;
    this.colours = colours;
  }

  /** With a fixed time zone and locale, so that tests do not depend on the machine's. */
  Browser.NewContextOptions options() {
    return new Browser.NewContextOptions()
        .setViewportSize(width, height)
        .setColorScheme(colours)
        .setLocale("en-GB")
        .setTimezoneId("Europe/Berlin");
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}

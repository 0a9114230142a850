package io.ordertimeout.it.console;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.ConsoleMessage;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Request;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import com.microsoft.playwright.options.AriaRole;
import io.ordertimeout.it.support.Http;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Somebody who looks at the console, in a browser that knows nothing yet. It must end without an
 * error in the browser's log and without a request to anybody but the service.
 */
final class Visit implements AutoCloseable {

  private static final double PATIENCE_MILLIS = 30_000;

  private final BrowserContext context;
  private final Page page;
  private final Set<String> known = new HashSet<>();
  private final URI service;
  private final List<String> errors = new ArrayList<>();
  private final List<String> strangers = new ArrayList<>();
  private final List<Pattern> expected = new ArrayList<>();

  Visit(BrowserContext context, URI service) {
    this.context = context;
    this.service = service;
    known.add(service.getAuthority());
    PlaywrightAssertions.setDefaultAssertionTimeout(PATIENCE_MILLIS);
    context.setDefaultTimeout(PATIENCE_MILLIS);
    context.onRequest(this::note);
    this.page = context.newPage();
    page.onConsoleMessage(this::note);
    page.onPageError(errors::add);
  }

  private void note(Request request) {
    URI uri = URI.create(request.url());
    boolean within = "data".equals(uri.getScheme()) || "about".equals(uri.getScheme());
    if (!within && !known.contains(uri.getAuthority())) {
      strangers.add(request.url());
    }
  }

  private void note(ConsoleMessage message) {
    if (message.type().equals("error") || message.type().equals("warning")) {
      errors.add(message.text() + " at " + message.location());
    }
  }

  /** Lets the browser's log say that a path was answered with that status. */
  Visit expecting(int status, String path) {
    expected.add(Pattern.compile("status of " + status + " .* at .*" + Pattern.quote(path)));
    return this;
  }

  /** Lets the browser's log say that the service could not be reached. */
  Visit expectingCuts() {
    expected.add(Pattern.compile("net::ERR_"));
    return this;
  }

  /** Lets the browser be sent to somebody else. */
  Visit expectingToLeaveFor(URI another) {
    known.add(another.getAuthority());
    return this;
  }

  Page page() {
    return page;
  }

  /** Comes for the first time, to a view. */
  Visit come(String view) {
    page.navigate(service + "/#/" + view);
    return this;
  }

  /** Fills in the form and sends it. */
  Visit logIn(String name, String password) {
    page.getByLabel("Name").fill(name);
    page.getByLabel("Password").fill(password);
    button("Log in").click();
    return this;
  }

  Visit comeAsOperator(String view) {
    return come(view).logIn("operator", Http.OPERATOR_PASSWORD).awaitLive().awaitView(view);
  }

  Visit comeAsViewer(String view) {
    return come(view).logIn("viewer", Http.VIEWER_PASSWORD).awaitLive().awaitView(view);
  }

  /** Waits until the page says that what it shows is new. */
  Visit awaitLive() {
    assertThat(page.locator("#connection")).containsText("Live");
    return this;
  }

  /** Goes to a view as a link within the page leads. */
  Visit go(String view) {
    page.evaluate("view => { location.hash = '#/' + view; }", view);
    return awaitView(view);
  }

  private Visit awaitView(String view) {
    assertThat(page.locator("main")).hasAttribute("data-view", "/" + view);
    return this;
  }

  Locator heading() {
    return page.getByRole(AriaRole.HEADING, new Page.GetByRoleOptions().setLevel(1));
  }

  Locator button(String name) {
    return page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName(name));
  }

  Locator link(String name) {
    return page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName(name).setExact(true));
  }

  Locator dialog() {
    return page.getByRole(AriaRole.DIALOG);
  }

  /** What the dialog says is wrong. */
  Locator complaint() {
    return dialog().getByRole(AriaRole.ALERT);
  }

  /** Presses the dialog's button and waits until the dialog is gone. */
  void confirm(String button) {
    press(button);
    assertThat(dialog()).hasCount(0);
  }

  /** Presses the dialog's button. */
  void press(String button) {
    dialog()
        .getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName(button).setExact(true))
        .click();
  }

  /** Gives the reason that the dialog asks for. */
  Visit because(String reason) {
    dialog().getByLabel("Reason").fill(reason);
    return this;
  }

  /** The number of a tile of the overview. */
  Locator figure(String tile) {
    return page.locator("[data-tile='" + tile + "'] .figure");
  }

  @Override
  public void close() {
    context.close();
    assertThat(strangers).as("requests to others").isEmpty();
    assertThat(errors)
        .as("the browser's log")
        .allMatch(error -> expected.stream().anyMatch(pattern -> pattern.matcher(error).find()));
  }
}

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
 * A visit to the console in a fresh browser context. Closing it fails if the browser logged an
 * unexpected error or sent a request to another host.
 */
final class Visit implements AutoCloseable {

  private static final double PATIENCE_MILLIS = 60_000;

  private final BrowserContext context;
  private final Page page;
  private final Set<String> allowedHosts = new HashSet<>();
  private final URI service;
  private final List<String> errors = new ArrayList<>();
  private final List<String> foreignRequests = new ArrayList<>();
  private final List<Pattern> expected = new ArrayList<>();

  Visit(BrowserContext context, URI service) {
    this.context = context;
    this.service = service;
    allowedHosts.add(service.getAuthority());
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
    if (!within && !allowedHosts.contains(uri.getAuthority())) {
      foreignRequests.add(request.url());
    }
  }

  private void note(ConsoleMessage message) {
    if (message.type().equals("error") || message.type().equals("warning")) {
      errors.add(message.text() + " at " + message.location());
    }
  }

  /** Expects the browser to log responses with this status from this path. */
  Visit expecting(int status, String path) {
    expected.add(Pattern.compile("status of " + status + " .* at .*" + Pattern.quote(path)));
    return this;
  }

  /** Expects the browser to log that the service is unreachable. */
  Visit expectingCuts() {
    expected.add(Pattern.compile("net::ERR_"));
    return this;
  }

  /** Expects requests to another host. */
  Visit expectingRequestsTo(URI another) {
    allowedHosts.add(another.getAuthority());
    return this;
  }

  Page page() {
    return page;
  }

  /** Loads the page with a view. */
  Visit open(String view) {
    page.navigate(service + "/#/" + view);
    return this;
  }

  /** Fills in and submits the log-in form. */
  Visit logIn(String name, String password) {
    page.getByLabel("Username").fill(name);
    page.getByLabel("Password").fill(password);
    button("Log in").click();
    return this;
  }

  Visit openAsOperator(String view) {
    return open(view).logIn("operator", Http.OPERATOR_PASSWORD).awaitLive().awaitView(view);
  }

  Visit openAsViewer(String view) {
    return open(view).logIn("viewer", Http.VIEWER_PASSWORD).awaitLive().awaitView(view);
  }

  /** Waits until the page reports that its data is live. */
  Visit awaitLive() {
    assertThat(page.locator("#connection")).containsText("Live");
    return this;
  }

  /** Navigates to a view as a link within the page does. */
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

  /** The error message of the dialog. */
  Locator dialogError() {
    return dialog().getByRole(AriaRole.ALERT);
  }

  /** Presses the dialog's button and waits until the dialog has closed. */
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

  /** Enters the reason that the dialog requires. */
  Visit because(String reason) {
    dialog().getByLabel("Reason").fill(reason);
    return this;
  }

  /** The figure of an overview tile. */
  Locator figure(String tile) {
    return page.locator("[data-tile='" + tile + "'] .figure");
  }

  @Override
  public void close() {
    context.close();
    assertThat(foreignRequests).as("requests to other hosts").isEmpty();
    assertThat(errors)
        .as("the browser's log")
        .allMatch(error -> expected.stream().anyMatch(pattern -> pattern.matcher(error).find()));
  }
}

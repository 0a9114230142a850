package io.ordertimeout.it.console;

import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;

/** A service on a stage of its own, and a browser to look at its console. */
final class Console implements AutoCloseable {

  private final Scenario scenario;
  private final Service service;
  private final Chromium chromium;

  private Console(Scenario scenario, Service service, Chromium chromium) {
    this.scenario = scenario;
    this.service = service;
    this.chromium = chromium;
  }

  /** Opens one, with more settings of the service given as pairs. */
  static Console open(String... more) {
    // First, since it may be missing.
    Chromium chromium = Chromium.start();
    Scenario scenario = Scenario.create();
    return new Console(scenario, scenario.startService(more), chromium);
  }

  Scenario scenario() {
    return scenario;
  }

  Service service() {
    return service;
  }

  Chromium chromium() {
    return chromium;
  }

  Visit visit() {
    return visit(Look.DESKTOP_LIGHT);
  }

  Visit visit(Look look) {
    return chromium.visit(service.http().base(), look);
  }

  @Override
  public void close() {
    chromium.close();
    service.close();
    scenario.close();
  }
}

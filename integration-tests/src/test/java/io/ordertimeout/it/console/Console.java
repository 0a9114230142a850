package io.ordertimeout.it.console;

import io.ordertimeout.it.support.Scenario;
import io.ordertimeout.it.support.Service;

/** A service with its own topics and database, and a browser to use its console. */
final class Console implements AutoCloseable {

  private final Scenario scenario;
  private final Service service;
  private final Chromium chromium;

  private Console(Scenario scenario, Service service, Chromium chromium) {
    this.scenario = scenario;
    this.service = service;
    this.chromium = chromium;
  }

  /** Starts both; more settings of the service are pairs of name and value. */
  static Console open(String... more) {
    // First, because it may not be installed.
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

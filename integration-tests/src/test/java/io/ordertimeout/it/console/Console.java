package io.ordertimeout.it.console;

import io.ordertimeout.it.rig.Service;
import io.ordertimeout.it.rig.Stage;

/** A service with its own topics and database, and a browser to use its console. */
final class Console implements AutoCloseable {

  private final Stage stage;
  private final Service service;
  private final Chromium chromium;

  private Console(Stage stage, Service service, Chromium chromium) {
    this.stage = stage;
    this.service = service;
    this.chromium = chromium;
  }

  /** Starts both; more settings of the service are pairs of name and value. */
  static Console open(String... more) {
    // First, because it may not be installed.
    Chromium chromium = Chromium.start();
    Stage stage = Stage.create();
    return new Console(stage, stage.startService(more), chromium);
  }

  Stage stage() {
    return stage;
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
    stage.close();
  }
}

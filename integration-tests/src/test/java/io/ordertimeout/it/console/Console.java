package io.ordertimeout.it.console;

import io.ordertimeout.it.rig.Service;
import io.ordertimeout.it.rig.Stage;

/** A service on a stage of its own, and a browser to look at its console. */
final class Console implements AutoCloseable {

  private final Stage stage;
  private final Service service;
  private final Chromium chromium;

  private Console(Stage stage, Service service, Chromium chromium) {
    this.stage = stage;
    this.service = service;
    this.chromium = chromium;
  }

  /** Opens one, with more settings of the service given as pairs. */
  static Console open(String... more) {
    // First, since it may be missing.
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

package io.ordertimeout.orders.api;

import io.ordertimeout.orders.operator.status.Overview;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/** How all stands, at once or as it changes. */
@RestController
@RequestMapping("/api")
class OverviewController {

  private final Overview overview;
  private final LiveOverview live;

  OverviewController(Overview overview, LiveOverview live) {
    this.overview = overview;
    this.live = live;
  }

  /** How all stands now, of all instances. */
  @GetMapping("/overview")
  Overview.Now overview() {
    return overview.now();
  }

  /** How many orders, and how much, come due within the next hour. */
  @GetMapping("/forecast")
  Overview.Forecast forecast() {
    return overview.forecast();
  }

  /** The overview every second, as server-sent events named overview. */
  @GetMapping("/live")
  SseEmitter live() {
    return live.subscribe();
  }
}

package io.ordertimeout.orders.api;

import io.ordertimeout.orders.operator.status.Overview;
import jakarta.servlet.http.HttpServletRequest;
import java.security.Principal;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpMethod;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/** The overall status of the service: once, or as a stream. */
@RestController
@RequestMapping("/api/v1")
class OverviewController {

  private final Overview overview;
  private final LiveOverview live;

  OverviewController(Overview overview, LiveOverview live) {
    this.overview = overview;
    this.live = live;
  }

  /** The current status of all instances. */
  @GetMapping("/overview")
  @Reading
  Overview.Now overview() {
    return overview.now();
  }

  /** The number and amount of the orders that come due within the next hour. */
  @GetMapping("/forecast")
  @Reading
  Overview.Forecast forecast() {
    return overview.forecast();
  }

  /** Streams the overview every second, as server-sent events named {@code overview}. */
  @GetMapping("/live")
  @Nullable SseEmitter live(Principal user, HttpServletRequest request) {
    if (request.getMethod().equals(HttpMethod.HEAD.name())) {
      return null; // Nobody would receive a stream.
    }
    return live.subscribe(user.getName(), request.getRemoteAddr());
  }
}

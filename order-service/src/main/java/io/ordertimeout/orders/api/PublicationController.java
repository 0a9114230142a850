package io.ordertimeout.orders.api;

import io.ordertimeout.orders.operator.OrderPublications;
import io.ordertimeout.orders.operator.OrderPublications.Publication;
import io.ordertimeout.orders.operator.OrderPublications.PublishedEvent;
import io.ordertimeout.orders.operator.UnknownSubjectException;
import java.util.List;
import java.util.concurrent.Semaphore;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** Finds the published events of an order in Kafka. */
@RestController
@RequestMapping("/api/v1")
class PublicationController {

  /** A search may read many records, in competition with the processing of events. */
  private static final int MAX_SEARCHES = 2;

  private final OrderPublications publications;
  private final RequestLimit postgres;
  private final Semaphore searches = new Semaphore(MAX_SEARCHES);

  PublicationController(OrderPublications publications, RequestLimit postgres) {
    this.publications = publications;
    this.postgres = postgres;
  }

  /** Finds the published events of one order in Kafka, on one page. */
  @GetMapping("/order/publications")
  Page<Publication> publications(@RequestParam String id) {
    return find(id);
  }

  /** Finds the published events of one order whose id fits into a path. */
  @GetMapping("/orders/{id}/publications")
  Page<Publication> publicationsByPath(@PathVariable String id) {
    return find(id);
  }

  private Page<Publication> find(String id) {
    List<PublishedEvent> events =
        postgres
            .within(() -> publications.of(id))
            .orElseThrow(() -> new UnknownSubjectException("there is no order '" + id + "'"));
    if (!searches.tryAcquire()) {
      throw new ResponseStatusException(
          HttpStatus.SERVICE_UNAVAILABLE,
          "%d other searches in Kafka are in progress; try again".formatted(MAX_SEARCHES));
    }
    try {
      return new Page<>(publications.find(events), null);
    } finally {
      searches.release();
    }
  }
}

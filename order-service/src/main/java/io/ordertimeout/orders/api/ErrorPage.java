package io.ordertimeout.orders.api;

import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;
import org.springframework.boot.webmvc.error.ErrorController;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.RequestMapping;

/** Responds to errors outside of the endpoints, such as in a filter, with problem details. */
@Controller
class ErrorPage implements ErrorController {

  @RequestMapping("${server.error.path:/error}")
  ResponseEntity<ProblemDetail> error(HttpServletRequest request) {
    HttpStatus status = HttpStatus.NOT_FOUND;
    if (request.getAttribute(RequestDispatcher.ERROR_STATUS_CODE) instanceof Integer code) {
      HttpStatus resolved = HttpStatus.resolve(code);
      status = resolved == null ? HttpStatus.INTERNAL_SERVER_ERROR : resolved;
    }
    return ResponseEntity.of(
            Problems.of(
                status,
                status == HttpStatus.NOT_FOUND ? Problems.NOTHING_HERE : status.getReasonPhrase(),
                request.getAttribute(RequestDispatcher.ERROR_REQUEST_URI) instanceof String path
                    ? path
                    : request.getRequestURI()))
        .build();
  }
}

package io.ordertimeout.orders.api;

import io.ordertimeout.orders.audit.AuditLog;
import io.ordertimeout.orders.audit.OperatorAction;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** The audit log: who changed what, when and why. */
@RestController
@RequestMapping("/api/audit")
class AuditController {

  private static final int MAX_PAGE_SIZE = 500;

  private final AuditLog audit;

  AuditController(AuditLog audit) {
    this.audit = audit;
  }

  /** The recorded actions on one subject or on all, latest first. */
  @GetMapping
  List<OperatorAction> actions(
      @RequestParam(required = false) @Nullable String subject,
      @RequestParam(defaultValue = "9223372036854775807") long before,
      @RequestParam(defaultValue = "50") @Min(1) @Max(MAX_PAGE_SIZE) int limit) {
    return audit.page(subject, before, limit);
  }
}

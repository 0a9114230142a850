package io.ordertimeout.orders.api;

import io.ordertimeout.orders.intake.GroupGenerations.Generation;
import io.ordertimeout.orders.operator.ChangeResult;
import io.ordertimeout.orders.operator.GroupCommands;
import jakarta.validation.Valid;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Size;
import java.security.Principal;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** The consumer group whose members share the shards. */
@RestController
@RequestMapping("/api/v1")
class GroupController {

  /**
   * A request to leave a generation of the consumer group.
   *
   * @param generation the generation to leave
   * @param reason why the instances leave it; recorded in the audit log
   */
  record AdvanceRequest(
      @NotNull Integer generation, @NotBlank @Size(max = Reason.MAX_LENGTH) String reason) {}

  private final GroupCommands commands;

  GroupController(GroupCommands commands) {
    this.commands = commands;
  }

  /** The current generation of the consumer group. */
  @GetMapping("/group")
  @Reading
  Generation group() {
    return commands.current();
  }

  /** Moves all instances to the next generation of the consumer group. */
  @PostMapping(path = "/group/advance", consumes = MediaType.APPLICATION_JSON_VALUE)
  ResponseEntity<Generation> advance(
      @Valid @RequestBody AdvanceRequest request,
      @RequestHeader(name = ChangeResponses.IDEMPOTENCY_KEY, required = false) @Nullable String key,
      Principal user) {
    ChangeResult result =
        commands.advance(
            ChangeResponses.requester(user, key), request.generation(), request.reason());
    return ChangeResponses.of(result, commands.current());
  }
}

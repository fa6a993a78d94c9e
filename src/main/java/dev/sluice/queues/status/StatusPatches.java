package dev.sluice.queues.status;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.kube.json.JsonMergePatch;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Merge patches that hold what changes in a status, and nothing else. */
public final class StatusPatches {

  private final ObjectMapper mapper;

  /** Patches of values that {@code mapper} writes as the API server reads them. */
  public StatusPatches(ObjectMapper mapper) {
    this.mapper = mapper;
  }

  /**
   * The merge patch of {@code {"status": …}} that leads from one status to another; empty if they
   * are the same. Lists are replaced whole, as merge patches do.
   */
  public Optional<ObjectNode> between(@Nullable Object current, Object wanted) {
    ObjectNode from = current == null ? empty() : mapper.valueToTree(current);
    ObjectNode to = mapper.valueToTree(wanted);
    ObjectNode changes = JsonMergePatch.between(from, to);
    return changes.isEmpty() ? Optional.empty() : Optional.of(empty().set("status", changes));
  }

  private static ObjectNode empty() {
    return JsonNodeFactory.instance.objectNode();
  }
}

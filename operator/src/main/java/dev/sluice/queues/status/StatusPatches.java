package dev.sluice.queues.status;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.kube.json.JsonMergePatch;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Computes merge patches that contain only the changed fields of a status. */
public final class StatusPatches {

  private final ObjectMapper mapper;

  /** Creates patches of values that {@code mapper} serialises for the API server. */
  public StatusPatches(ObjectMapper mapper) {
    this.mapper = mapper;
  }

  /**
   * The merge patch of {@code {"status": …}} from one status to another; empty if they are equal.
   * Lists are replaced as a whole, as JSON merge patch requires.
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

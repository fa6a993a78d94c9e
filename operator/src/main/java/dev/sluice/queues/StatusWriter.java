package dev.sluice.queues;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.json.JsonMergePatch;
import io.fabric8.kubernetes.client.CustomResource;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Writes statuses that changed. Keeps the written statuses that the informer has not delivered yet:
 * a patch computed from the informer's older status would omit fields that changed back.
 *
 * @param <S> the type of the status
 */
public final class StatusWriter<S> {

  private final ObjectMapper mapper;
  private final StatusPatches patches;
  private final ApiClient writer;
  private final Class<S> type;
  private final Map<String, Written<S>> written = new ConcurrentHashMap<>();

  /** Creates a writer without written statuses. */
  public StatusWriter(ObjectMapper mapper, ApiClient writer, Class<S> type) {
    this.mapper = mapper;
    this.patches = new StatusPatches(mapper);
    this.writer = writer;
    this.type = type;
  }

  /**
   * Writes a status.
   *
   * @param wanted computes the new status from the present one, which is null if there is none
   * @return the result of the patch; empty if the status is up to date
   */
  public Optional<ApiOutcome> write(CustomResource<?, S> object, Function<@Nullable S, S> wanted) {
    S current = current(object);
    return patches
        .between(current, wanted.apply(current))
        .map(
            patch -> {
              ApiOutcome outcome = writer.patchStatus(object, patch);
              remember(object, outcome);
              return outcome;
            });
  }

  /** The present status as far as known; null if the object has none. */
  private @Nullable S current(CustomResource<?, S> object) {
    Written<S> last = written.get(object.getMetadata().getUid());
    if (last == null) {
      return object.getStatus();
    }
    if (version(object.getMetadata().getResourceVersion()) >= last.version()) {
      written.remove(object.getMetadata().getUid(), last);
      return object.getStatus();
    }
    return last.status();
  }

  /** Records the result of a patch of the object's status. */
  private void remember(CustomResource<?, S> object, ApiOutcome outcome) {
    if (outcome instanceof ApiOutcome.Written answer) {
      JsonNode now = answer.object();
      try {
        S status = mapper.treeToValue(now.path("status"), type);
        long version = version(now.path("metadata").path("resourceVersion").asText());
        written.put(object.getMetadata().getUid(), new Written<>(version, status));
      } catch (JsonProcessingException e) {
        throw new IllegalStateException(
            "status of " + object.getMetadata().getName() + " can't be read back", e);
      }
    }
  }

  /** Forgets an object. */
  public void forget(CustomResource<?, S> object) {
    written.remove(object.getMetadata().getUid());
  }

  private static long version(String resourceVersion) {
    return Long.parseLong(resourceVersion);
  }

  private record Written<S>(long version, S status) {}

  /** Computes merge patches that contain only the changed fields of a status. */
  private static final class StatusPatches {

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
}

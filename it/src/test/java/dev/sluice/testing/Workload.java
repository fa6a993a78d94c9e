package dev.sluice.testing;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.ApiVersions;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Version;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A Workload as tests read it: the JSON of the API server, and names for the fields they ask. */
@Group(ApiVersions.GROUP)
@Version(ApiVersions.V1BETA2)
public final class Workload extends CustomResource<ObjectNode, Workload.Status>
    implements Namespaced {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** The status, with every field that the API server sent. */
  public record Status(@JsonValue ObjectNode json) {

    /** Takes the JSON object as it is. */
    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    public Status {}

    /** The quota that is reserved, or null. */
    public @Nullable JsonNode admission() {
      return json.get("admission");
    }

    /** The worker cluster that the job runs in, or null. */
    public @Nullable String clusterName() {
      return json.hasNonNull("clusterName") ? json.get("clusterName").asText() : null;
    }

    /** The conditions; none while the field is absent. */
    public List<Condition> conditions() {
      return json.path("conditions")
          .valueStream()
          .map(condition -> JSON.convertValue(condition, Condition.class))
          .toList();
    }

    /** The messages of the admission checks, in their order; an absent message is empty. */
    public List<String> checkMessages() {
      return json.path("admissionChecks")
          .valueStream()
          .map(check -> check.path("message").asText())
          .toList();
    }
  }

  @Override
  protected @Nullable ObjectNode initSpec() {
    return null;
  }

  @Override
  protected @Nullable Status initStatus() {
    return null;
  }
}

package dev.sluice.dashboard;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.server.auth.AccessReviews;
import dev.sluice.server.auth.RequestUsers;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.fabric8.mockwebserver.http.RecordedRequest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A cluster that knows four tokens: {@code admin} may list everything, {@code tenant} LocalQueues
 * and Workloads of namespace {@code team-a}, {@code planner} these and Topologies, {@code nobody}
 * nothing.
 */
final class PlayedUsers implements AutoCloseable {

  private static final Duration SHORT = Duration.ofSeconds(30);
  private static final ObjectMapper JSON = new ObjectMapper();

  private final KubernetesMockServer server = new KubernetesMockServer(false);
  private final KubernetesClient client;
  private final AtomicInteger reviews = new AtomicInteger();

  PlayedUsers() {
    server
        .expect()
        .post()
        .withPath("/apis/authentication.k8s.io/v1/tokenreviews")
        .andReply(201, PlayedUsers::token)
        .always();
    server
        .expect()
        .post()
        .withPath("/apis/authorization.k8s.io/v1/subjectaccessreviews")
        .andReply(201, this::access)
        .always();
    server.init();
    client = server.createClient();
  }

  RequestUsers users() {
    return new RequestUsers(client, Optional.empty(), SHORT, SHORT, InstantSource.system());
  }

  AccessReviews access() {
    return new AccessReviews(client, SHORT, SHORT, InstantSource.system());
  }

  /** How often the cluster was asked what somebody may do. */
  int reviews() {
    return reviews.get();
  }

  private static String token(RecordedRequest request) {
    ObjectNode review = read(request);
    String token = review.path("spec").path("token").asText();
    ObjectNode status = review.putObject("status");
    if (Set.of("admin", "tenant", "planner", "nobody").contains(token)) {
      status.put("authenticated", true).putObject("user").put("username", token);
    }
    return review.toString();
  }

  private String access(RecordedRequest request) {
    reviews.incrementAndGet();
    ObjectNode review = read(request);
    String user = review.path("spec").path("user").asText();
    JsonNode asked = review.path("spec").path("resourceAttributes");
    String resource = asked.path("resource").asText();
    boolean own =
        asked.path("namespace").asText().equals("team-a")
            && (resource.equals("workloads") || resource.equals("localqueues"));
    review
        .putObject("status")
        .put(
            "allowed",
            user.equals("admin")
                || (own && !user.equals("nobody"))
                || (user.equals("planner") && resource.equals("topologies")));
    return review.toString();
  }

  private static ObjectNode read(RecordedRequest request) {
    try {
      return (ObjectNode) JSON.readTree(request.getBody().readUtf8());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    client.close();
    server.destroy();
  }
}

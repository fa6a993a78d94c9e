package dev.sluice.server;

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
import java.util.Set;

/**
 * A cluster that knows the tokens {@code good}, {@code poor} and {@code tenant} as users of these
 * names, and allows everything to the first, nothing to the second, and to the third to get the
 * Workloads of namespace {@code team}. A token that begins with {@code good-}, or like the name of
 * a service account, is a user of that name who may do everything.
 */
public final class FakeReviews {

  /** The group that every user is in. */
  public static final String GROUP = "system:authenticated";

  private static final Duration SHORT = Duration.ofSeconds(1);
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Makes {@code server} answer reviews. */
  public FakeReviews(KubernetesMockServer server) {
    server
        .expect()
        .post()
        .withPath("/apis/authentication.k8s.io/v1/tokenreviews")
        .andReply(201, FakeReviews::token)
        .always();
    server
        .expect()
        .post()
        .withPath("/apis/authorization.k8s.io/v1/subjectaccessreviews")
        .andReply(201, FakeReviews::access)
        .always();
  }

  /** Reads users through the server of {@code client}. */
  public RequestUsers users(KubernetesClient client) {
    return new RequestUsers(client, SHORT, SHORT, InstantSource.system());
  }

  /** Asks the server of {@code client} for rights. */
  public AccessReviews access(KubernetesClient client) {
    return new AccessReviews(client, SHORT, SHORT, InstantSource.system());
  }

  private static String token(RecordedRequest request) {
    ObjectNode review = read(request);
    String token = review.path("spec").path("token").asText();
    ObjectNode status = review.putObject("status");
    if (Set.of("good", "poor", "tenant").contains(token) || isOneOfMany(token)) {
      status
          .put("authenticated", true)
          .putObject("user")
          .put("username", token)
          .putArray("groups")
          .add(GROUP);
    }
    return review.toString();
  }

  private static String access(RecordedRequest request) {
    ObjectNode review = read(request);
    JsonNode spec = review.path("spec");
    String user = spec.path("user").asText();
    JsonNode resource = spec.path("resourceAttributes");
    boolean ofTeam =
        resource.path("resource").asText().equals("workloads")
            && resource.path("group").asText().equals("kueue.x-k8s.io")
            && resource.path("verb").asText().equals("get")
            && resource.path("namespace").asText().equals("team");
    review
        .putObject("status")
        .put(
            "allowed", user.equals("good") || isOneOfMany(user) || user.equals("tenant") && ofTeam);
    return review.toString();
  }

  private static boolean isOneOfMany(String user) {
    return user.startsWith("good-") || user.startsWith("system:serviceaccount:");
  }

  private static ObjectNode read(RecordedRequest request) {
    try {
      return (ObjectNode) JSON.readTree(request.getBody().readUtf8());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

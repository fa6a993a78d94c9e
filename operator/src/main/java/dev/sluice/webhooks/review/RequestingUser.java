package dev.sluice.webhooks.review;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonFields;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Who sent a request to the API server.
 *
 * @param name the name of the user
 * @param groups the groups of the user
 * @param isKnown whether the API server says so; if not, the groups are not known
 */
public record RequestingUser(String name, Set<String> groups, boolean isKnown) {

  private static final String ACCOUNT = "system:serviceaccount:";

  /** Copies the groups. */
  public RequestingUser {
    groups = Set.copyOf(groups);
  }

  /**
   * Who shares what each tenant may ask for: all service accounts of a namespace, of which whoever
   * may create one has as many as he likes, or one user.
   */
  public String tenant() {
    return name.startsWith(ACCOUNT) ? name.substring(0, name.lastIndexOf(':')) : name;
  }

  /** A user of whom only the name is known. */
  public static RequestingUser named(String name) {
    return new RequestingUser(name, Set.of(), false);
  }

  /** The user of the request of an AdmissionReview. */
  static RequestingUser of(JsonNode request) {
    Set<String> groups = new LinkedHashSet<>();
    for (JsonNode group : JsonFields.list(request, "userInfo", "groups")) {
      groups.add(group.asText());
    }
    return new RequestingUser(JsonFields.text(request, "userInfo", "username"), groups, true);
  }
}

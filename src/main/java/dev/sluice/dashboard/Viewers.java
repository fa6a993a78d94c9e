package dev.sluice.dashboard;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.server.auth.AccessReviews;
import dev.sluice.server.auth.RequestUsers;
import dev.sluice.server.http.Request;
import io.fabric8.kubernetes.api.model.authentication.UserInfo;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Who looks at the dashboard. The users that were seen last are kept, with their rights. */
final class Viewers {

  private static final int MAX_USERS = 128;

  private final RequestUsers users;
  private final AccessReviews access;
  private final InstantSource clock;
  private final Map<String, Viewer> known =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Viewer> eldest) {
          return size() > MAX_USERS;
        }
      };

  Viewers(RequestUsers users, AccessReviews access, InstantSource clock) {
    this.users = users;
    this.access = access;
    this.clock = clock;
  }

  /**
   * The user who sends a request; empty if nothing shows who it is.
   *
   * @throws KubernetesClientException when the cluster can't be asked
   */
  Optional<Viewer> of(Request request) {
    return users.of(request).map(this::viewer);
  }

  private synchronized Viewer viewer(UserInfo user) {
    return known.computeIfAbsent(key(user), any -> new Viewer(user, access, clock));
  }

  /** Two users with the same key have the same rights. */
  private static String key(UserInfo user) {
    ObjectNode key = JsonMappers.JSON.createObjectNode();
    key.put("user", user.getUsername()).put("uid", user.getUid());
    user.getGroups().forEach(key.withArray("groups")::add);
    key.set("extra", JsonMappers.JSON.valueToTree(user.getExtra()));
    return key.toString();
  }
}

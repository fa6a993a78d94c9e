package dev.sluice.checks.multikueue.access;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The user that a worker cluster shall take requests to be from, instead of the one who logs in.
 * The worker cluster decides whether that one may do so (verb {@code impersonate}).
 *
 * @param user the name of the user
 * @param uid the user's UID
 * @param groups the user's groups
 * @param extra further attributes, several values each
 * @see <a
 *     href="https://kubernetes.io/docs/reference/access-authn-authz/user-impersonation/">Kubernetes:
 *     user impersonation</a>
 */
public record Impersonation(
    String user, Optional<String> uid, List<String> groups, Map<String, List<String>> extra) {

  /**
   * A header of a request.
   *
   * @param name its name
   * @param value its value
   */
  public record Header(String name, String value) {}

  /** Copies the collections. */
  public Impersonation {
    groups = List.copyOf(groups);
    extra = Map.copyOf(extra);
  }

  /** The headers that each request has. */
  public List<Header> headers() {
    List<Header> headers = new ArrayList<>();
    headers.add(new Header("Impersonate-User", user));
    uid.ifPresent(value -> headers.add(new Header("Impersonate-Uid", value)));
    groups.forEach(group -> headers.add(new Header("Impersonate-Group", group)));
    extra.forEach(
        (key, values) ->
            values.forEach(
                value -> headers.add(new Header("Impersonate-Extra-" + encoded(key), value))));
    return List.copyOf(headers);
  }

  /** A key as a part of a header's name: percent encoding of what such a name can't have. */
  private static String encoded(String key) {
    return URLEncoder.encode(key, StandardCharsets.UTF_8).replace("+", "%20");
  }
}

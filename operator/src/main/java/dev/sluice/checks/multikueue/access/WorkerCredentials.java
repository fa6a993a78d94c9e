package dev.sluice.checks.multikueue.access;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Address and login of a worker cluster. Two credentials are equal if they lead to the same
 * connection.
 *
 * @param endpoint where the worker cluster is
 * @param token a bearer token
 * @param certificate base64 of a client certificate in PEM
 * @param key base64 of its private key in PEM
 * @param plugin a program that returns a token or a certificate
 * @param impersonation whom requests are to be from
 */
public record WorkerCredentials(
    WorkerEndpoint endpoint,
    Optional<String> token,
    Optional<String> certificate,
    Optional<String> key,
    Optional<ExecPlugin> plugin,
    Optional<Impersonation> impersonation) {

  /** Creates credentials that need neither a login program nor another user. */
  public WorkerCredentials(
      WorkerEndpoint endpoint,
      Optional<String> token,
      Optional<String> certificate,
      Optional<String> key) {
    this(endpoint, token, certificate, key, Optional.empty(), Optional.empty());
  }

  /** URL of the API server, always https. */
  public URI server() {
    return endpoint.server();
  }

  /** Removes all secrets from the text, such as an error message of the connection. */
  public String redact(String text) {
    String redacted = hide(hide(text, token), key);
    Optional<URI> proxy = endpoint.proxy();
    redacted = hide(redacted, proxy.map(URI::getRawUserInfo));
    return hide(redacted, proxy.map(URI::getUserInfo));
  }

  private static String hide(String text, Optional<String> secret) {
    return secret.filter(it -> !it.isEmpty()).map(it -> text.replace(it, "(secret)")).orElse(text);
  }

  /** The address only; the rest is secret. */
  @Override
  public String toString() {
    return "Credentials[server=" + server() + "]";
  }

  /**
   * Where the API server of a worker cluster is, and how its certificate is verified.
   *
   * @param server URL of the API server, always https
   * @param authority base64 of the certificate authorities of the server, in PEM; empty: the
   *     authorities that the process trusts
   * @param serverName the name that is asked for when the connection is encrypted, and that the
   *     certificate must have; empty: the host of the URL
   * @param proxy URL of the proxy that connections go through, http or socks5; may hold a password
   */
  public record WorkerEndpoint(
      URI server, Optional<String> authority, Optional<String> serverName, Optional<URI> proxy) {

    /** Creates an endpoint that is reached directly and whose certificate names its host. */
    public WorkerEndpoint(URI server, Optional<String> authority) {
      this(server, authority, Optional.empty(), Optional.empty());
    }

    /** The address only; the proxy's may hold a secret. */
    @Override
    public String toString() {
      return "WorkerEndpoint[server=" + server + "]";
    }
  }

  /**
   * A login program for a worker cluster, as the operator's configuration names it. Two plugins are
   * equal if they run the same command with the same input.
   *
   * @param command the program, by path or found in {@code PATH}
   * @param args its arguments
   * @param env environment variables in addition to the operator's own
   * @param info input of the program: an ExecCredential without a status
   */
  public record ExecPlugin(
      String command, List<String> args, Map<String, String> env, JsonNode info) {

    /** Copies the collections. */
    public ExecPlugin {
      args = List.copyOf(args);
      env = Map.copyOf(env);
      info = info.deepCopy();
    }

    /** The command only; arguments and environment may be secret. */
    @Override
    public String toString() {
      return "ExecPlugin[command=" + command + "]";
    }
  }

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
}

package dev.sluice.server.auth;

import dev.sluice.server.auth.ClusterAuthentication.FrontProxy;
import dev.sluice.server.auth.ClusterAuthentication.Published;
import dev.sluice.server.certificates.CertificateUsers;
import dev.sluice.server.http.Request;
import io.fabric8.kubernetes.api.model.authentication.UserInfo;
import io.fabric8.kubernetes.api.model.authentication.UserInfoBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Who sends a request, by the cluster's own means, in the order in which an API server asks: the
 * headers of a front proxy that has shown its certificate, then a client certificate, then a bearer
 * token.
 */
public final class RequestUsers {

  private static final String BEARER = "Bearer ";
  private static final int MAX_TOKEN_LENGTH = 16 * 1024;

  private final KubernetesClient client;
  private final ClusterAuthentication authentication;
  private final Optional<AuthenticatingProxy> proxy;
  private final ReviewCache<Optional<UserInfo>> tokens;

  /**
   * Creates a reader.
   *
   * @param acceptedTtl how long a token that was valid is taken without asking again
   * @param refusedTtl the same for a token that was not
   */
  public RequestUsers(
      KubernetesClient client, Duration acceptedTtl, Duration refusedTtl, InstantSource clock) {
    this(client, Optional.empty(), acceptedTtl, refusedTtl, clock);
  }

  /**
   * Creates a reader that also believes a proxy, which is asked before the cluster's own means.
   *
   * @param acceptedTtl how long a token that was valid is taken without asking again
   * @param refusedTtl the same for a token that was not
   */
  public RequestUsers(
      KubernetesClient client,
      Optional<AuthenticatingProxy> proxy,
      Duration acceptedTtl,
      Duration refusedTtl,
      InstantSource clock) {
    this.client = client;
    this.proxy = proxy;
    this.authentication = new ClusterAuthentication(client, clock);
    this.tokens = new ReviewCache<>(Optional::isEmpty, acceptedTtl, refusedTtl, clock);
  }

  /**
   * The user; empty if nothing shows who it is.
   *
   * @throws KubernetesClientException when the cluster can't be asked
   * @throws dev.sluice.server.http.OverBudgetException when the request's source has shown too many
   *     unknown tokens
   */
  public Optional<UserInfo> of(Request request) {
    if (proxy.filter(known -> known.sends(request)).isPresent()) {
      Optional<UserInfo> named = proxy.flatMap(known -> known.user(request));
      return named.isPresent() ? named : byToken(request);
    }
    Optional<UserInfo> shown =
        request.certificates().isEmpty() ? Optional.empty() : byCertificate(request);
    return shown.isPresent() ? shown : byToken(request);
  }

  private Optional<UserInfo> byCertificate(Request request) {
    Published published = authentication.published();
    FrontProxy front = published.frontProxy();
    boolean isProxy =
        CertificateUsers.of(request.certificates(), front.authorities())
            .filter(known -> front.names().isEmpty() || front.names().contains(known.getUsername()))
            .isPresent();
    Optional<UserInfo> passedOn = isProxy ? passedOn(request, front) : Optional.empty();
    return passedOn.isPresent()
        ? passedOn
        : CertificateUsers.of(request.certificates(), published.clientAuthorities());
  }

  private static Optional<UserInfo> passedOn(Request request, FrontProxy proxy) {
    return first(request, proxy.userHeaders())
        .map(
            name ->
                new UserInfoBuilder()
                    .withUsername(name)
                    .withUid(first(request, proxy.uidHeaders()).orElse(null))
                    .withGroups(groups(request, proxy))
                    .withExtra(extra(request, proxy))
                    .build());
  }

  private static Optional<String> first(Request request, List<String> headers) {
    return headers.stream()
        .flatMap(header -> request.header(header).stream())
        .filter(value -> !value.isEmpty())
        .findFirst();
  }

  private static List<String> groups(Request request, FrontProxy proxy) {
    List<String> groups = new ArrayList<>();
    proxy.groupHeaders().forEach(header -> groups.addAll(request.headerValues(header)));
    return groups;
  }

  private static Map<String, List<String>> extra(Request request, FrontProxy proxy) {
    Map<String, List<String>> extra = new HashMap<>();
    for (String prefix : proxy.extraPrefixes()) {
      for (String header : request.headers().keySet()) {
        if (header.startsWith(prefix) && header.length() > prefix.length()) {
          extra.put(key(header.substring(prefix.length())), request.headerValues(header));
        }
      }
    }
    return extra;
  }

  /** Keys are percent-encoded, since headers allow fewer characters. */
  private static String key(String encoded) {
    try {
      return URLDecoder.decode(encoded.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException notEncoded) {
      return encoded;
    }
  }

  private Optional<UserInfo> byToken(Request request) {
    String header = request.header("authorization").orElse("");
    boolean isBearer = header.regionMatches(true, 0, BEARER, 0, BEARER.length());
    String token = isBearer ? header.substring(BEARER.length()).strip() : "";
    return token.isEmpty() || token.length() > MAX_TOKEN_LENGTH
        ? Optional.empty()
        : tokens.get(token, request.source(), () -> Reviews.user(client, token));
  }
}

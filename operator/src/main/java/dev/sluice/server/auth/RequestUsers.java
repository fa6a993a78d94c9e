package dev.sluice.server.auth;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.server.auth.AccessReviews.Reviews;
import dev.sluice.server.auth.RequestUsers.ClusterAuthentication.FrontProxy;
import dev.sluice.server.auth.RequestUsers.ClusterAuthentication.Published;
import dev.sluice.server.certificates.CertificateUsers;
import dev.sluice.server.http.Request;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.authentication.UserInfo;
import io.fabric8.kubernetes.api.model.authentication.UserInfoBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who sends a request, by the cluster's own means, in the order in which an API server asks: the
 * headers of a front proxy that has shown its certificate, then a client certificate, then a bearer
 * token.
 */
public final class RequestUsers {

  private static final String UNAUTHENTICATED = "system:unauthenticated";
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
    // As every API server adds it: the aggregator asks for discovery as a user without groups.
    if (!groups.contains(CertificateUsers.AUTHENTICATED) && !groups.contains(UNAUTHENTICATED)) {
      groups.add(CertificateUsers.AUTHENTICATED);
    }
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

  /**
   * How the cluster knows its users, which API servers publish for servers that extend the API: the
   * authorities of client certificates, and the API server's own identity when it passes on
   * requests. It is read when somebody comes with a certificate, at most once in a short time,
   * whether that succeeds or not: a new authority counts after that.
   */
  public static final class ClusterAuthentication {

    /** How long what was read is used before it is read again. */
    public static final Duration TTL = Duration.ofSeconds(10);

    private static final String NAMESPACE = "kube-system";
    private static final String NAME = "extension-apiserver-authentication";

    /**
     * What is published.
     *
     * @param clientAuthorities who signs client certificates (PEM); empty if nobody does
     * @param frontProxy who may pass on requests of others
     */
    public record Published(String clientAuthorities, FrontProxy frontProxy) {}

    /**
     * Who may pass on requests of others, and how he names them. Names of headers are in lower
     * case.
     *
     * @param authorities who signs his certificate (PEM); empty if there is no such proxy
     * @param names the allowed common names; empty: all
     * @param userHeaders headers with the user's name; the first that is there counts
     * @param uidHeaders the same with the user's UID
     * @param groupHeaders headers with groups; all count
     * @param extraPrefixes prefixes of headers with further attributes
     */
    public record FrontProxy(
        String authorities,
        List<String> names,
        List<String> userHeaders,
        List<String> uidHeaders,
        List<String> groupHeaders,
        List<String> extraPrefixes) {}

    private static final Published NOTHING = published(Map.of());

    private final KubernetesClient client;
    private final InstantSource clock;
    private Published known = NOTHING;
    private Optional<KubernetesClientException> failure = Optional.empty();
    private Instant until = Instant.MIN;

    /** Creates a reader; nothing is read yet. */
    public ClusterAuthentication(KubernetesClient client, InstantSource clock) {
      this.client = client;
      this.clock = clock;
    }

    /**
     * What is published now.
     *
     * @throws KubernetesClientException when it can't be read
     */
    public synchronized Published published() {
      Instant now = clock.instant();
      if (!now.isBefore(until)) {
        until = now.plus(TTL);
        try {
          known = read();
          failure = Optional.empty();
        } catch (KubernetesClientException e) {
          failure = Optional.of(e);
        }
      }
      if (failure.isPresent()) {
        throw failure.get();
      }
      return known;
    }

    private Published read() {
      ConfigMap published = client.configMaps().inNamespace(NAMESPACE).withName(NAME).get();
      return published == null || published.getData() == null
          ? NOTHING
          : published(published.getData());
    }

    private static Published published(Map<String, String> data) {
      return new Published(
          data.getOrDefault("client-ca-file", ""),
          new FrontProxy(
              data.getOrDefault("requestheader-client-ca-file", ""),
              list(data, "requestheader-allowed-names"),
              headers(data, "requestheader-username-headers"),
              headers(data, "requestheader-uid-headers"),
              headers(data, "requestheader-group-headers"),
              headers(data, "requestheader-extra-headers-prefix")));
    }

    private static List<String> headers(Map<String, String> data, String key) {
      return list(data, key).stream().map(name -> name.toLowerCase(Locale.ROOT)).toList();
    }

    /** A JSON array of texts; anything else is none. */
    private static List<String> list(Map<String, String> data, String key) {
      List<String> values = new ArrayList<>();
      try {
        JsonNode array = JsonMappers.JSON.readTree(data.getOrDefault(key, ""));
        array.forEach(value -> values.add(value.asText()));
      } catch (JsonProcessingException e) {
        return List.of();
      }
      return List.copyOf(values);
    }
  }

  /**
   * A proxy that knows who its users are, by OIDC for example, and names them in headers. It is
   * believed if it shows a certificate of its own authority. It can't name users and groups of the
   * system itself, so it can't make anybody an administrator by a group that no role has to name.
   */
  public static final class AuthenticatingProxy {

    private static final Logger LOG = LoggerFactory.getLogger(AuthenticatingProxy.class);

    private static final String SYSTEM = "system:";

    private final Path authorities;
    private final List<String> names;
    private final String userHeader;
    private final String groupsHeader;

    /**
     * A proxy.
     *
     * @param authorities file with the authorities of its certificate (PEM), read for each request
     * @param names the common names that its certificate may have; empty: any
     * @param userHeader the header with the user's name
     * @param groupsHeader the header with his groups, repeated or separated by commas
     */
    public AuthenticatingProxy(
        Path authorities, List<String> names, String userHeader, String groupsHeader) {
      this.authorities = authorities;
      this.names = List.copyOf(names);
      this.userHeader = userHeader.toLowerCase(Locale.ROOT);
      this.groupsHeader = groupsHeader.toLowerCase(Locale.ROOT);
    }

    /**
     * The user whom the proxy names in a request that it {@link #sends}; empty if it names nobody,
     * a user of the system, or several.
     */
    Optional<UserInfo> user(Request request) {
      List<String> users = request.headerValues(userHeader);
      return users.size() == 1 && isOrdinary(users.getFirst())
          ? Optional.of(user(users.getFirst(), request))
          : Optional.empty();
    }

    private UserInfo user(String name, Request request) {
      List<String> groups = new ArrayList<>();
      request.headerValues(groupsHeader).stream()
          .flatMap(value -> Stream.of(value.split(",")))
          .map(String::strip)
          .filter(AuthenticatingProxy::isOrdinary)
          .forEach(groups::add);
      groups.add(CertificateUsers.AUTHENTICATED);
      return new UserInfoBuilder().withUsername(name).withGroups(groups).build();
    }

    private static boolean isOrdinary(String name) {
      return !name.isBlank() && !name.startsWith(SYSTEM);
    }

    /** Whether a request comes from the proxy: its certificate is the proxy's. */
    boolean sends(Request request) {
      Predicate<String> expected = name -> names.isEmpty() || names.contains(name);
      return !request.certificates().isEmpty()
          && CertificateUsers.of(request.certificates(), pem())
              .map(UserInfo::getUsername)
              .filter(expected)
              .isPresent();
    }

    private String pem() {
      try {
        return Files.readString(authorities);
      } catch (IOException e) {
        LOG.warn("dashboard proxy=unknown reason=\"can't read {}: {}\"", authorities, e.toString());
        return "";
      }
    }
  }
}

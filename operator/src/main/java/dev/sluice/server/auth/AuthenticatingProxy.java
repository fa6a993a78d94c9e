package dev.sluice.server.auth;

import dev.sluice.server.certificates.CertificateUsers;
import dev.sluice.server.http.Request;
import io.fabric8.kubernetes.api.model.authentication.UserInfo;
import io.fabric8.kubernetes.api.model.authentication.UserInfoBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A proxy that knows who its users are, by OIDC for example, and names them in headers. It is
 * believed if it shows a certificate of its own authority. It can't name users and groups of the
 * system itself, so it can't make anybody an administrator by a group that no role has to name.
 */
public final class AuthenticatingProxy {

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
   * The user whom the proxy names in a request that it {@link #sends}; empty if it names nobody, a
   * user of the system, or several.
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

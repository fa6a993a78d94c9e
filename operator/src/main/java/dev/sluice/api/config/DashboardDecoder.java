package dev.sluice.api.config;

import dev.sluice.api.KubernetesNames;
import dev.sluice.api.config.DashboardServer.TrustedProxy;
import java.util.Optional;

/** Reads the block {@code dashboard}, which files of both versions may have. */
final class DashboardDecoder {

  /** The block's name in the file. */
  static final String BLOCK = "dashboard";

  /** The field that turns the dashboard on. */
  static final String ENABLED = "enabled";

  private static final int USUAL_PORT = 8444;

  /** Names of headers, as RFC 9110 has them. */
  private static final String HEADER = "[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}";

  private DashboardDecoder() {}

  /** The block of the file; where it is absent, no dashboard is served. */
  static DashboardServer decode(ObjectFieldReader file) {
    ObjectFieldReader fields = file.object(BLOCK);
    boolean enabled = fields.flag(ENABLED, false);
    String address = fields.text("bindAddress", "");
    fields.check(
        "bindAddress",
        address.isEmpty() || KubernetesNames.isIpAddress(address),
        address,
        "an IPv4 or IPv6 address");
    int port = fields.whole("bindPort", USUAL_PORT, 1, 65535);
    fields.accept("proxy");
    Optional<TrustedProxy> proxy =
        fields.has("proxy") ? Optional.of(proxy(fields.object("proxy"))) : Optional.empty();
    return fields.done(new DashboardServer(enabled, address, port, proxy));
  }

  private static TrustedProxy proxy(ObjectFieldReader fields) {
    String file = fields.text("clientCAFile", "");
    fields.check("clientCAFile", !file.isEmpty(), file, "the path of a file");
    String user = header(fields, "userHeader", "X-Forwarded-User");
    String groups = header(fields, "groupsHeader", "X-Forwarded-Groups");
    return fields.done(new TrustedProxy(file, fields.texts("names"), user, groups));
  }

  private static String header(ObjectFieldReader fields, String name, String usual) {
    String header = fields.text(name, usual);
    fields.check(name, header.matches(HEADER), header, "the name of a header");
    return header;
  }
}

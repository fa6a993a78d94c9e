package dev.sluice.server.http;

import dev.sluice.api.config.Configuration;
import dev.sluice.api.config.Configuration.TlsVersion;
import dev.sluice.api.config.KeyExchangeGroup;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;

/**
 * TLS settings of a server.
 *
 * @param minVersion the oldest protocol version
 * @param cipherSuites names as in the configuration; empty: the platform's defaults
 * @param curves numbers of the TLS registry, in order of preference; empty: the platform's defaults
 */
public record TlsSettings(TlsVersion minVersion, List<String> cipherSuites, List<Integer> curves) {

  /** TLS 1.3 with the platform's cipher suites. */
  public static final TlsSettings STRICT =
      new TlsSettings(TlsVersion.TLS_1_3, List.of(), List.of());

  /** Names of cipher suites that differ between the configuration and Java. */
  private static final Map<String, String> CIPHER_ALIASES =
      Map.of(
          "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305",
          "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
          "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305",
          "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256");

  /** Copies the lists. */
  public TlsSettings {
    cipherSuites = List.copyOf(cipherSuites);
    curves = List.copyOf(curves);
  }

  /** Reads the configuration; the default is TLS 1.3, or 1.2 for whoever chooses its suites. */
  public static TlsSettings of(Configuration.Tls tls) {
    TlsVersion usual = tls.cipherSuites().isEmpty() ? TlsVersion.TLS_1_3 : TlsVersion.TLS_1_2;
    return new TlsSettings(
        tls.minVersion().orElse(usual), tls.cipherSuites(), tls.curvePreferences());
  }

  /**
   * The settings as Java's SSL parameters.
   *
   * @throws IllegalArgumentException with the name of a cipher suite or curve that the platform
   *     does not support
   */
  SSLParameters parameters(SSLContext context) {
    SSLParameters parameters = context.getDefaultSSLParameters();
    parameters.setProtocols(protocols());
    parameters.setNeedClientAuth(false);
    if (!cipherSuites.isEmpty()) {
      parameters.setCipherSuites(ciphers(context));
    }
    if (!curves.isEmpty()) {
      parameters.setNamedGroups(groups());
    }
    return parameters;
  }

  private String[] protocols() {
    return switch (minVersion) {
      case TLS_1_2 -> new String[] {TlsVersion.TLS_1_3.protocol(), TlsVersion.TLS_1_2.protocol()};
      case TLS_1_3 -> new String[] {TlsVersion.TLS_1_3.protocol()};
    };
  }

  private String[] ciphers(SSLContext context) {
    List<String> supported = Arrays.asList(context.getSupportedSSLParameters().getCipherSuites());
    List<String> result = new ArrayList<>();
    for (String name : cipherSuites) {
      String known = CIPHER_ALIASES.getOrDefault(name, name);
      if (!supported.contains(known)) {
        throw new IllegalArgumentException(
            "tls.cipherSuites: \"" + name + "\" is not supported; supported are " + supported);
      }
      result.add(known);
    }
    // without any suite of the newest version, clients of that version could not connect
    supported.stream()
        .filter(name -> name.startsWith("TLS_AES_") || name.startsWith("TLS_CHACHA20_"))
        .filter(name -> !result.contains(name))
        .forEach(result::add);
    return result.toArray(String[]::new);
  }

  private String[] groups() {
    List<String> result = new ArrayList<>();
    for (int number : curves) {
      result.add(
          KeyExchangeGroup.numbered(number)
              .filter(KeyExchangeGroup::isOffered)
              .map(KeyExchangeGroup::text)
              .orElseThrow(
                  () ->
                      new IllegalArgumentException(
                          "tls.curvePreferences: "
                              + number
                              + " is not supported; supported are "
                              + KeyExchangeGroup.allowed())));
    }
    return result.toArray(String[]::new);
  }
}

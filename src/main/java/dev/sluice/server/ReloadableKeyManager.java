package dev.sluice.server;

import dev.sluice.kube.certificates.CertificateWithKey;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/**
 * Hands out the key material that was set last, so that handshakes from then on show the new
 * certificate while connections that exist go on. Safe for use by many threads.
 */
public final class ReloadableKeyManager extends X509ExtendedKeyManager {

  private static final String PREFIX = "serving-";

  private final AtomicReference<@Nullable Held> current = new AtomicReference<>();

  private record Held(String alias, CertificateWithKey material, @Nullable Held previous) {}

  /** Handshakes from now on use this material. */
  public void use(CertificateWithKey material) {
    current.updateAndGet(
        held ->
            new Held(
                PREFIX + material.certificate().getSerialNumber().toString(16),
                material,
                held == null ? null : new Held(held.alias(), held.material(), null)));
  }

  /** What handshakes use at this moment; empty before any was set. */
  public Optional<CertificateWithKey> current() {
    return Optional.ofNullable(current.get()).map(Held::material);
  }

  /**
   * A TLS context that serves with this manager's material.
   *
   * @throws GeneralSecurityException when the platform has no TLS
   */
  public SSLContext context() throws GeneralSecurityException {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(new KeyManager[] {this}, null, null);
    return context;
  }

  /**
   * The same, and clients that show a certificate are checked.
   *
   * @throws GeneralSecurityException when the platform has no TLS
   */
  public SSLContext context(ClientAuthority clients) throws GeneralSecurityException {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(new KeyManager[] {this}, new TrustManager[] {clients}, null);
    return context;
  }

  /** A server that asks for a certificate is shown the one that this process serves with. */
  @Override
  public @Nullable String chooseEngineClientAlias(
      String[] keyTypes, Principal @Nullable [] issuers, SSLEngine engine) {
    for (String keyType : keyTypes) {
      String alias = alias(keyType);
      if (alias != null) {
        return alias;
      }
    }
    return null;
  }

  @Override
  public @Nullable String chooseEngineServerAlias(
      String keyType, Principal @Nullable [] issuers, SSLEngine engine) {
    return alias(keyType);
  }

  @Override
  public @Nullable String chooseServerAlias(
      String keyType, Principal @Nullable [] issuers, Socket socket) {
    return alias(keyType);
  }

  @Override
  public String @Nullable [] getServerAliases(String keyType, Principal @Nullable [] issuers) {
    String alias = alias(keyType);
    return alias == null ? null : new String[] {alias};
  }

  @Override
  public X509Certificate @Nullable [] getCertificateChain(String alias) {
    CertificateWithKey material = named(alias);
    return material == null ? null : material.chain().toArray(X509Certificate[]::new);
  }

  @Override
  public @Nullable PrivateKey getPrivateKey(String alias) {
    CertificateWithKey material = named(alias);
    return material == null ? null : material.key();
  }

  @Override
  public String @Nullable [] getClientAliases(String keyType, Principal @Nullable [] issuers) {
    return null;
  }

  @Override
  public @Nullable String chooseClientAlias(
      String[] keyType, Principal @Nullable [] issuers, Socket socket) {
    return null;
  }

  private @Nullable String alias(String keyType) {
    Held held = current.get();
    return held != null && keyType.equals(held.material().key().getAlgorithm())
        ? held.alias()
        : null;
  }

  /** A handshake that began before a swap asks for chain and key by the alias it was given. */
  private @Nullable CertificateWithKey named(String alias) {
    Held held = current.get();
    while (held != null && !held.alias().equals(alias)) {
      held = held.previous();
    }
    return held == null ? null : held.material();
  }
}

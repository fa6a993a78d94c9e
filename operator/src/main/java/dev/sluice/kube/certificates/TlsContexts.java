package dev.sluice.kube.certificates;

import java.io.IOException;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/** TLS of clients, from certificates and keys as text. */
public final class TlsContexts {

  private static final String ALIAS = "client";

  private TlsContexts() {}

  /**
   * TLS of a client.
   *
   * @param authority certificates that sign those of the server; empty: the default of Java
   * @param client what the client shows if it is asked for a certificate
   * @throws GeneralSecurityException when a certificate or the key can't be used
   */
  public static SSLContext client(Optional<String> authority, Optional<ClientCertificate> client)
      throws GeneralSecurityException {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(
        client.isPresent() ? new KeyManager[] {new OneKey(client.get())} : null,
        authority.isPresent() ? trust(authority.get()).getTrustManagers() : null,
        null);
    return context;
  }

  private static TrustManagerFactory trust(String pem) throws GeneralSecurityException {
    try {
      KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, null);
      int number = 0;
      for (X509Certificate each : Pem.certificates(pem)) {
        store.setCertificateEntry("ca-" + number++, each);
      }
      TrustManagerFactory factory =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      factory.init(store);
      return factory;
    } catch (IOException e) {
      throw new GeneralSecurityException(e);
    }
  }

  /**
   * What a client identifies itself with, as PEM.
   *
   * @param chain the certificate, and those between it and the authority
   */
  public record ClientCertificate(String chain, String key) {

    @Override
    public String toString() {
      return "ClientCertificate";
    }
  }

  /** Holds one key. A key store would encrypt it with a password first, which takes long. */
  private static final class OneKey extends X509ExtendedKeyManager {

    private final X509Certificate[] chain;
    private final PrivateKey key;

    OneKey(ClientCertificate certificate) throws GeneralSecurityException {
      List<X509Certificate> certificates = Pem.certificates(certificate.chain());
      this.chain = certificates.toArray(X509Certificate[]::new);
      this.key = Pem.privateKey(certificate.key());
    }

    @Override
    public @Nullable String chooseClientAlias(
        String[] types, Principal @Nullable [] issuers, @Nullable Socket socket) {
      return suits(types) ? ALIAS : null;
    }

    @Override
    public @Nullable String chooseEngineClientAlias(
        String[] types, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
      return suits(types) ? ALIAS : null;
    }

    private boolean suits(String[] types) {
      return List.of(types).contains(key.getAlgorithm());
    }

    @Override
    public String[] getClientAliases(String type, Principal @Nullable [] issuers) {
      return type.equals(key.getAlgorithm()) ? new String[] {ALIAS} : new String[0];
    }

    @Override
    public X509Certificate[] getCertificateChain(String alias) {
      return chain.clone();
    }

    @Override
    public PrivateKey getPrivateKey(String alias) {
      return key;
    }

    @Override
    public String[] getServerAliases(String type, Principal @Nullable [] issuers) {
      return new String[0];
    }

    @Override
    public @Nullable String chooseServerAlias(
        String type, Principal @Nullable [] issuers, @Nullable Socket socket) {
      return null;
    }
  }
}

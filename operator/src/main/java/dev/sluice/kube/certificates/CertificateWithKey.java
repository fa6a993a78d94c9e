package dev.sluice.kube.certificates;

import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.X509Certificate;
import java.util.List;

/**
 * A certificate with its key.
 *
 * @param chain the certificate itself first, then those that vouch for it
 * @param key belongs to the first certificate
 */
public record CertificateWithKey(List<X509Certificate> chain, PrivateKey key) {

  /** Takes a copy. */
  public CertificateWithKey {
    chain = List.copyOf(chain);
    if (chain.isEmpty()) {
      throw new IllegalArgumentException("a certificate is needed");
    }
  }

  /**
   * Reads both from text.
   *
   * @throws GeneralSecurityException when one can't be read or they don't belong together
   */
  public static CertificateWithKey parse(String certificatePem, String keyPem)
      throws GeneralSecurityException {
    CertificateWithKey material =
        new CertificateWithKey(Pem.certificates(certificatePem), Pem.privateKey(keyPem));
    material.checkPair();
    return material;
  }

  public static CertificateWithKey of(X509Certificate certificate, KeyPair pair) {
    return new CertificateWithKey(List.of(certificate), pair.getPrivate());
  }

  /** The certificate that is shown to clients. */
  public X509Certificate certificate() {
    return chain.getFirst();
  }

  /** The chain as text. */
  public String certificatePem() throws GeneralSecurityException {
    return Pem.certificates(chain);
  }

  /** The key as text. */
  public String keyPem() {
    return Pem.key(key);
  }

  /** Never shows the key. */
  @Override
  public String toString() {
    return "KeyMaterial[" + certificate().getSubjectX500Principal() + "]";
  }

  private void checkPair() throws GeneralSecurityException {
    byte[] probe = {1, 2, 3};
    String algorithm =
        switch (key.getAlgorithm()) {
          case "EC" -> "SHA256withECDSA";
          case "RSA" -> "SHA256withRSA";
          case "EdDSA", "Ed25519" -> "Ed25519";
          default -> throw new GeneralSecurityException("key type " + key.getAlgorithm());
        };
    Signature signer = Signature.getInstance(algorithm);
    signer.initSign(key);
    signer.update(probe);
    byte[] signature = signer.sign();
    Signature verifier = Signature.getInstance(algorithm);
    verifier.initVerify(certificate().getPublicKey());
    verifier.update(probe);
    if (!verifier.verify(signature)) {
      throw new GeneralSecurityException("the private key doesn't belong to the certificate");
    }
  }
}

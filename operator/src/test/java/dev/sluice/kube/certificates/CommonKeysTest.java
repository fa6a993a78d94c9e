package dev.sluice.kube.certificates;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sluice.kube.certificates.Pem.CommonKeys;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.util.Base64;
import org.bouncycastle.asn1.pkcs.PrivateKeyInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which private keys are read without the library of certificates. */
class CommonKeysTest {

  private static PrivateKey key(String algorithm, int size) throws GeneralSecurityException {
    KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm);
    generator.initialize(size);
    return generator.generateKeyPair().getPrivate();
  }

  private static String block(String type, byte[] content) {
    return "-----BEGIN %s-----\n%s\n-----END %s-----\n"
        .formatted(
            type,
            Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII))
                .encodeToString(content),
            type);
  }

  @ParameterizedTest
  @CsvSource({"RSA, 1024", "RSA, 2048", "EC, 256", "EC, 384", "Ed25519, 255"})
  void keysOfPkcs8AreRead(String algorithm, int size) throws Exception {
    PrivateKey key = key(algorithm, size);

    assertThat(CommonKeys.read("\n" + Pem.key(key)).orElseThrow().getEncoded())
        .isEqualTo(key.getEncoded());
  }

  @ParameterizedTest
  @ValueSource(ints = {512, 1024, 2048, 4096})
  void keysOfPkcs1AreRead(int size) throws Exception {
    PrivateKey key = key("RSA", size);
    byte[] pkcs1 =
        PrivateKeyInfo.getInstance(key.getEncoded())
            .parsePrivateKey()
            .toASN1Primitive()
            .getEncoded();

    assertThat(CommonKeys.read(block("RSA PRIVATE KEY", pkcs1)).orElseThrow().getEncoded())
        .isEqualTo(key.getEncoded());
  }

  @Test
  void otherFormsAreLeftToTheLibrary() throws Exception {
    PrivateKey key = key("EC", 256);
    String sec1 = Pem.ellipticKey(key);

    assertThat(CommonKeys.read(sec1)).isEmpty();
    assertThat(Pem.privateKey(sec1).getAlgorithm()).startsWith("EC");
    assertThat(Pem.privateKey("# a remark\n" + Pem.key(key)).getEncoded())
        .isEqualTo(key.getEncoded());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "x",
        "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n=\n-----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nYQ==\n-----END PRIVATE KEY-----",
        "-----BEGIN RSA PRIVATE KEY-----\nYQ==\n-----END RSA PRIVATE KEY-----",
      })
  void whatIsNoKeyIsNotRead(String pem) {
    assertThat(CommonKeys.read(pem)).isEmpty();
    assertThatThrownBy(() -> Pem.privateKey(pem)).isInstanceOf(GeneralSecurityException.class);
  }
}

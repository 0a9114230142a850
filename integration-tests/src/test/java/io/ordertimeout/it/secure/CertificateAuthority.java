package io.ordertimeout.it.secure;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A certificate authority that exists for the duration of a test. */
final class CertificateAuthority {

  private final X509Bundle root;

  private CertificateAuthority(X509Bundle root) {
    this.root = root;
  }

  static CertificateAuthority create(String name) throws Exception {
    return new CertificateAuthority(
        new CertificateBuilder()
            .ecp256()
            .subject("CN=" + name)
            .setIsCertificateAuthority(true)
            .buildSelfSigned());
  }

  /** Issues a server certificate for the loopback address, without a host name. */
  X509Bundle server() throws Exception {
    return new CertificateBuilder()
        .ecp256()
        .subject("CN=server")
        .addSanIpAddress("127.0.0.1")
        .addExtendedKeyUsageServerAuth()
        .buildIssuedBy(root);
  }

  X509Bundle client() throws Exception {
    return new CertificateBuilder()
        .ecp256()
        .subject("CN=order-timeout")
        .addExtendedKeyUsageClientAuth()
        .buildIssuedBy(root);
  }

  /** Returns the authority's own certificate. */
  String certificate() {
    return root.getCertificatePEM();
  }

  /** Writes the authority's own certificate to a file. */
  Path certificateIn(Path directory) throws IOException {
    return Files.writeString(
        directory.resolve(root.getCertificate().getSerialNumber() + ".crt"), certificate());
  }
}

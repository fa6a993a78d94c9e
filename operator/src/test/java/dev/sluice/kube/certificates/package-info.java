/** Tests of certificates and keys. */
@NullMarked
package dev.sluice.kube.certificates;

import org.jspecify.annotations.NullMarked;

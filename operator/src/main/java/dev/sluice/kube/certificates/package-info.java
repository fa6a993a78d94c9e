/**
 * Certificates: authorities, key pairs and their PEM form. Names and times enter; certificates with
 * keys leave. Nothing here talks to a network.
 */
@NullMarked
package dev.sluice.kube.certificates;

import org.jspecify.annotations.NullMarked;

/**
 * The core's data types: small immutable values for amounts, flavors, requests, quotas, events,
 * decisions and explanations. They depend on plain values of the JDK only. Every other package
 * communicates with the engine through these types.
 */
@NullMarked
package dev.sluice.core.model;

import org.jspecify.annotations.NullMarked;

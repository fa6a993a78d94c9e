/**
 * What any Kubernetes controller needs, once: requests to the API server, reading that never fails,
 * leader election, events, JSON, certificates and the base of reconcilers. Nothing here knows a
 * kind of this project's API. It stands on {@code api} and {@code core} and is used by all rooms
 * above.
 */
@NullMarked
package dev.sluice.kube;

import org.jspecify.annotations.NullMarked;

/**
 * The oldest version of the API that is served: flavors that are told by their labels and taints,
 * and queues whose quota has a guaranteed and a greatest amount. Only what such manifests say may
 * enter; the status is that of the stored version. Nothing of the operator reads these types; their
 * schemas leave, and objects are converted as JSON.
 */
@NullMarked
package dev.sluice.api.v1alpha2;

import org.jspecify.annotations.NullMarked;

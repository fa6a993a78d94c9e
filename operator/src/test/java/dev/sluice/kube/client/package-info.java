/** Tests of requests to the API server. */
@NullMarked
package dev.sluice.kube.client;

import org.jspecify.annotations.NullMarked;

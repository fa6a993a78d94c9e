/** Every kind of job in every situation, driven by the manifests of the kinds. */
@NullMarked
package dev.sluice.kinds;

import org.jspecify.annotations.NullMarked;

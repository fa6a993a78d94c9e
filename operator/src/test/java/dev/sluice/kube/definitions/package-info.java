/** Tests of what is known of CustomResourceDefinitions. */
@NullMarked
package dev.sluice.kube.definitions;

import org.jspecify.annotations.NullMarked;

/* SPDX-License-Identifier: Apache-2.0 */
/* Names for functions of <math.h>, of which nothing is assumed but what wp/assumed/math.h says. So
 * a contract can say which of them is applied to what. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_LAYERS_LIBRARY_H
#define CHUNKPROOF_LOGIC_LAYERS_LIBRARY_H

/*@
  axiomatic Library {
    logic real cos_of(real x);
    logic real sin_of(real x);
    logic real erfc_of(real x);
    logic real root_of(real x);
    logic real power_of(real x, real y);
  }
*/

#endif

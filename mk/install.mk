# SPDX-License-Identifier: Apache-2.0
# What `make install` puts where, and `make uninstall` takes away.

to_include = $(DESTDIR)$(PREFIX)/include/chunkproof
to_simt    = $(to_include)/kernels/simt
to_bin     = $(DESTDIR)$(PREFIX)/bin
to_lib     = $(DESTDIR)$(PREFIX)/lib

install:
	install -d $(to_include) $(to_bin) $(to_lib)/pkgconfig
	install -m 644 include/chunkproof/*.h $(to_include)
	install -d $(to_simt)/as_cuda/cooperative_groups
	install -m 644 kernels/simt/*.h $(to_simt)
	install -m 644 kernels/simt/as_cuda/*.h $(to_simt)/as_cuda
	install -m 644 kernels/simt/as_cuda/cooperative_groups/*.h \
		$(to_simt)/as_cuda/cooperative_groups
	scripts/fix-limits $(CC) $(EXTRA_CFLAGS) -Iinclude -E -x c - >$(to_include)/limits.h
	install -m 755 $(command) $(to_bin)
	install -m 644 $(static) $(simt) $(to_lib)
	$(if $(wildcard $(cuda)),install -m 644 $(cuda) $(to_lib))
	install -m 755 $(shared) $(to_lib)/libchunkproof.so.$(version)
	ln -sf libchunkproof.so.$(version) $(to_lib)/$(soname)
	ln -sf $(soname) $(to_lib)/libchunkproof.so
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(version)|' scripts/chunkproof.pc.in \
		>$(to_lib)/pkgconfig/chunkproof.pc

uninstall:
	rm -rf $(to_include)
	rm -f $(to_bin)/chunkproof $(to_lib)/libchunkproof.* \
		$(addprefix $(to_lib)/libchunkproof_,cuda.a simt.a) $(to_lib)/pkgconfig/chunkproof.pc

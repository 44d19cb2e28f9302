;; Compares words by their directions, 64 integers of 8 bits each, from -127 to 127. A list holds two integers of 32 bits
;; for each word: the address of its direction, and its highest dot product so far. kernel.ts holds the bytes of this
;; text; `vitest run test/search/kernels.test.ts -u` writes them anew.
(module
  (import "words" "memory" (memory 1 65535 shared))

  ;; Raises the highest dot products of the words from $left to $left_end and of those from $right to $right_end by those
  ;; of each word on the left with each on the right.
  (func (export "compare") (param $left i32) (param $left_end i32) (param $right i32) (param $right_end i32)
    (local $one i32) (local $other i32) (local $at i32) (local $highest i32)
    (local $piece0 v128) (local $piece1 v128) (local $piece2 v128) (local $piece3 v128) (local $sums v128)
    (loop $words
      (br_if 1 (i32.ge_u (local.get $left) (local.get $left_end)))
      (local.set $one (i32.load (local.get $left)))
      (local.set $piece0 (v128.load (local.get $one)))
      (local.set $piece1 (v128.load offset=16 (local.get $one)))
      (local.set $piece2 (v128.load offset=32 (local.get $one)))
      (local.set $piece3 (v128.load offset=48 (local.get $one)))
      (local.set $highest (i32.load offset=4 (local.get $left)))
      (local.set $at (local.get $right))
      (block $done
        (loop $others
          (br_if $done (i32.ge_u (local.get $at) (local.get $right_end)))
          (local.set $other (i32.load (local.get $at)))
          (local.set $sums
            (i32x4.add
              (i32x4.add
                (call $dots (local.get $piece0) (v128.load (local.get $other)))
                (call $dots (local.get $piece1) (v128.load offset=16 (local.get $other))))
              (i32x4.add
                (call $dots (local.get $piece2) (v128.load offset=32 (local.get $other)))
                (call $dots (local.get $piece3) (v128.load offset=48 (local.get $other))))))
          (local.set $other
            (i32.add
              (i32.add (i32x4.extract_lane 0 (local.get $sums)) (i32x4.extract_lane 1 (local.get $sums)))
              (i32.add (i32x4.extract_lane 2 (local.get $sums)) (i32x4.extract_lane 3 (local.get $sums)))))
          (if (i32.gt_s (local.get $other) (local.get $highest))
            (then (local.set $highest (local.get $other))))
          (if (i32.gt_s (local.get $other) (i32.load offset=4 (local.get $at)))
            (then (i32.store offset=4 (local.get $at) (local.get $other))))
          (local.set $at (i32.add (local.get $at) (i32.const 8)))
          (br $others)))
      (i32.store offset=4 (local.get $left) (local.get $highest))
      (local.set $left (i32.add (local.get $left) (i32.const 8)))
      (br $words)))

  ;; Four partial sums of the products. Two products fit into 16 bits.
  (func $dots (param $one v128) (param $other v128) (result v128)
    (i32x4.extadd_pairwise_i16x8_s
      (i16x8.add
        (i16x8.extmul_low_i8x16_s (local.get $one) (local.get $other))
        (i16x8.extmul_high_i8x16_s (local.get $one) (local.get $other)))))
)

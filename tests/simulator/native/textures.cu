/* Arrays, textures and surfaces: of one to three dimensions, layered, filtered, pitched. */
#include <vector>

#include "check.h"

__global__ void read(cudaTextureObject_t texture, float *out, int width)
{
    int x = threadIdx.x, y = blockIdx.x;
    out[y * width + x] = tex2D<float>(texture, x + 0.5f, y + 0.5f);
}

__global__ void between(cudaTextureObject_t texture, float *out) { *out = tex2D<float>(texture, 1.0f, 0.5f); }

__global__ void fill(cudaSurfaceObject_t surface)
{
    surf2Dwrite(threadIdx.x * 10 + blockIdx.x, surface, threadIdx.x * 4, blockIdx.x);
}

__global__ void vectors(cudaTextureObject_t texture, uchar4 *out)
{
    out[threadIdx.x] = tex1Dfetch<uchar4>(texture, threadIdx.x);
}

__global__ void layer(cudaTextureObject_t texture, float *out)
{
    out[threadIdx.x] = tex2DLayered<float>(texture, 0.5f, 0.5f, threadIdx.x);
}

__global__ void volume(cudaTextureObject_t texture, float *out)
{
    out[threadIdx.x] = tex3D<float>(texture, 1.5f, 1.5f, threadIdx.x + 0.5f);
}

static cudaTextureObject_t texture_of(cudaResourceDesc resource, cudaTextureFilterMode filter = cudaFilterModePoint)
{
    cudaTextureDesc rules = {};
    rules.addressMode[0] = rules.addressMode[1] = rules.addressMode[2] = cudaAddressModeClamp;
    rules.filterMode = filter;
    rules.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &rules, nullptr));
    return texture;
}

static cudaResourceDesc of_array(cudaArray_t array)
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    return resource;
}

int main()
{
    const int width = 16, height = 8;
    float host[width * height], back[width * height], *out;
    for (int i = 0; i < width * height; i++)
        host[i] = i;
    CHECK(cudaMalloc(&out, sizeof host));
    cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &floats, width, height));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, host, width * 4, width * 4, height, cudaMemcpyHostToDevice));
    cudaTextureObject_t texture = texture_of(of_array(array));
    read<<<height, width>>>(texture, out, width);
    CHECK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
    for (int i = 0; i < width * height; i++)
        EXPECT(back[i] == host[i]);
    CHECK(cudaDestroyTextureObject(texture));
    texture = texture_of(of_array(array), cudaFilterModeLinear);
    between<<<1, 1>>>(texture, out);
    CHECK(cudaMemcpy(back, out, 4, cudaMemcpyDeviceToHost));
    EXPECT(back[0] == 0.5f);
    CHECK(cudaDestroyTextureObject(texture));

    float *pitched;
    size_t pitch;
    CHECK(cudaMallocPitch(&pitched, &pitch, width * 4, height));
    CHECK(cudaMemcpy2D(pitched, pitch, host, width * 4, width * 4, height, cudaMemcpyHostToDevice));
    cudaResourceDesc plane = {};
    plane.resType = cudaResourceTypePitch2D;
    plane.res.pitch2D = {pitched, floats, width, height, pitch};
    texture = texture_of(plane);
    read<<<height, width>>>(texture, out, width);
    CHECK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
    EXPECT(back[width * height - 1] == width * height - 1);
    CHECK(cudaDestroyTextureObject(texture));

    cudaChannelFormatDesc ints = cudaCreateChannelDesc<int>();
    cudaArray_t written;
    CHECK(cudaMallocArray(&written, &ints, width, height, cudaArraySurfaceLoadStore));
    cudaResourceDesc resource = of_array(written);
    cudaSurfaceObject_t surface;
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    fill<<<height, width>>>(surface);
    int numbers[width * height];
    CHECK(cudaMemcpy2DFromArray(numbers, width * 4, written, 0, 0, width * 4, height, cudaMemcpyDeviceToHost));
    for (int i = 0; i < width * height; i++)
        EXPECT(numbers[i] == i % width * 10 + i / width);
    CHECK(cudaDestroySurfaceObject(surface));

    uchar4 *bytes, colors[4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}, {13, 14, 15, 16}}, seen[4];
    CHECK(cudaMalloc(&bytes, sizeof colors));
    CHECK(cudaMemcpy(bytes, colors, sizeof colors, cudaMemcpyHostToDevice));
    cudaResourceDesc line = {};
    line.resType = cudaResourceTypeLinear;
    line.res.linear = {bytes, cudaCreateChannelDesc<uchar4>(), sizeof colors};
    texture = texture_of(line);
    vectors<<<1, 4>>>(texture, (uchar4 *)out);
    CHECK(cudaMemcpy(seen, out, sizeof seen, cudaMemcpyDeviceToHost));
    EXPECT(seen[2].z == 11 && seen[3].w == 16);
    CHECK(cudaDestroyTextureObject(texture));

    cudaArray_t layers, box;
    CHECK(cudaMalloc3DArray(&layers, &floats, make_cudaExtent(4, 4, 8), cudaArrayLayered));
    CHECK(cudaMalloc3DArray(&box, &floats, make_cudaExtent(4, 4, 8)));
    for (cudaArray_t to : {layers, box}) {
        cudaMemcpy3DParms copy = {};
        copy.srcPtr = make_cudaPitchedPtr(host, 16, 4, 4);
        copy.dstArray = to;
        copy.extent = make_cudaExtent(4, 4, 8);
        copy.kind = cudaMemcpyHostToDevice;
        CHECK(cudaMemcpy3D(&copy));
    }
    texture = texture_of(of_array(layers));
    layer<<<1, 8>>>(texture, out);
    CHECK(cudaMemcpy(back, out, 32, cudaMemcpyDeviceToHost));
    EXPECT(back[0] == 0 && back[7] == 112);
    CHECK(cudaDestroyTextureObject(texture));
    texture = texture_of(of_array(box));
    volume<<<1, 8>>>(texture, out);
    CHECK(cudaMemcpy(back, out, 32, cudaMemcpyDeviceToHost));
    EXPECT(back[0] == 5 && back[7] == 117);
    CHECK(cudaDestroyTextureObject(texture));
    for (cudaArray_t each : {array, written, layers, box})
        CHECK(cudaFreeArray(each));
    printf("ok\n");
    return 0;
}

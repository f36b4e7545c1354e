return {
  regions = {
    ["src/sample.cu#inner"] = { first = 3, last = 7, link = "https://godbolt.org/clientstate/eNoVzDEKwCAMBdCryJ9acOnqVVqHoCIBjcXUSbx7cXzLm9Ckyk0U7p7gCHdZFJI8KCc4hBEJFtpGD9ssn6nEcpxmrkdgEVp9uaS-B7_8-gGH5Bvb" },
    ["src/sample.cu#launch"] = { first = 12, last = 12 },
  },
  programs = { ["src/sample.cu"] = "https://godbolt.org/clientstate/eNoVzDEKwCAMBdCryJ9acOnqVVqHoCIBjcXUSbx7cXzLm9Ckyk0U7p7gCHdZFJI8KCc4hBEJFtpGD9ssn6nEcpxmrkdgEVp9uaS-B7_8-gGH5Bvb" },
  machines = { ["nvidia-h200"] = "NVIDIA H200" },
}
